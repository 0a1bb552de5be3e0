"""Questions about games for language models, with exact answers and a grader.

A *task* is a JSON object: rules and a state as text, a question, and the answer that the rules give, a list
of KIF terms.  The same game, seed and options give the same tasks.  Scrambled rules
(`herbrand.convert.scramble`) are the same game under names that say nothing.

| kind       | asks for                                                                | right is        |
|------------|-------------------------------------------------------------------------|-----------------|
| `legal`    | the legal moves of a role                                               | all of them     |
| `next`     | the facts after a joint move                                            | all of them     |
| `steps`    | the facts after several joint moves from the initial state              | all of them     |
| `terminal` | whether the game is over                                                | yes or no       |
| `goals`    | the goals of all roles at the end                                       | all of them     |
| `best`     | a move with the best result, by solving the game from there             | one of the best |
| `win`      | a move that wins within so many steps, whatever others do               | one of them     |
| `knows`    | the facts that a role can be sure of, with hidden information           | all of them     |
| `bug`      | the statement that was changed so that a property of the game is lost   | its number      |
| `repair`   | the whole game before one statement was changed                         | plays the same  |
| `translate`| the rules in infix or Prolog notation                                   | the same game   |
| `same`     | whether two rulesheets are the same game, names and order aside         | yes or no       |
| `write`    | the rules of a game that is described in words                          | plays the same  |

The first five cost no search, and can be asked of every game; the others are refused where they cannot be.

| module    | what it does                                        |
|-----------|-----------------------------------------------------|
| `tasks`   | draws tasks and writes their prompts                |
| `kinds`   | one function for each kind: a state and its answer  |
| `writing` | descriptions of games in words                      |
| `grading` | `grade`: compares a reply with the answer           |
| `asking`  | sends tasks to a model, and collects its replies    |
| `judge`   | the same for rules, in a subprocess with limits     |

    >>> import herbrand
    >>> task = make_tasks(herbrand.load("nim"), kinds=("legal",), count=1, seed=3)[0]
    >>> task["id"], task["role"], task["answer"][:2]
    ('nim-legal-3-0', 'second', ['(take a 1)', '(take a 2)'])
    >>> grade(task, 'I would say: ["(take a 1)"]').correct
    False
"""

from __future__ import annotations

from herbrand.envs.language.grading import Grade, grade, right_reply, summary
from herbrand.envs.language.kinds import KINDS, QUICK_KINDS
from herbrand.envs.language.tasks import TaskMaker, make_tasks

__all__ = ["KINDS", "QUICK_KINDS", "Grade", "TaskMaker", "grade", "make_tasks", "right_reply", "summary"]
