; The game {{ game }}: end it with 100.
(define (problem {{ name }}-100)
  (:domain {{ name }})
  (:init
    (choosing)
{% for fact in facts %}
    {{ fact }}
{% endfor %}
  )
  (:goal (and (choosing) ({{ terminal }}) {{ goal }}))
)
