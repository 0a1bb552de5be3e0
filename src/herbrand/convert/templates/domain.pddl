; The game {{ game }}. A step is two actions: a move, then `step`.
(define (domain {{ name }})
  (:requirements :adl :derived-predicates)
  (:constants {{ objects | join(" ") }})
  (:predicates
    (choosing)
{% for predicate in predicates %}
    {{ predicate }}
{% endfor %}
  )
{% for head, body in axioms %}
  (:derived {{ head }}
    {{ body }})
{% endfor %}
{% for move in moves %}
  (:action {{ move.action }}
    :parameters ({{ move.parameters | join(" ") }})
    :precondition (and (choosing) (not ({{ terminal }})) {{ move.legal }})
    :effect (and (not (choosing)) {{ move.does }}))
{% endfor %}
  (:action step
    :parameters ()
    :precondition (not (choosing))
    :effect (and (choosing)
{% for effect in effects %}
      {{ effect }}
{% endfor %}
    ))
)
