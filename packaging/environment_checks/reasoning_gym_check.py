"""What the tests of reasoning-gym ask of every data set and curriculum, of ours."""

from reasoning_gym.factory import create_curriculum, create_dataset, get_score_answer_fn

import herbrand.oracle.reasoning_gym  # noqa: F401  # registers it

data = create_dataset("herbrand", seed=42, size=30)
again = create_dataset("herbrand", seed=42, size=30)
assert len(data) == 30
questions = set()
for number, item in enumerate(data):
    assert set(item) >= {"question", "answer", "metadata"}
    assert item["metadata"]["source_dataset"] == "herbrand"
    assert item["metadata"]["source_index"] == number
    assert "difficulty" in item["metadata"]
    assert data.score_answer(item["answer"], item) == 1.0
    for wrong in (None, "", "I do not know", "[]", item["question"]):
        assert 0.0 <= data.score_answer(wrong, item) < 1.0
    questions.add(item["question"])
    if number % 10 == 0:
        assert again[number] == item
assert len(questions) > 20
assert create_dataset("herbrand", seed=43, size=1)[0] != data[0]
assert get_score_answer_fn("herbrand")(data[0]["answer"], data[0]) == 1.0

curriculum = create_curriculum("herbrand")
easy = curriculum.generate_configuration({"size": 10, "seed": 1})
assert (easy.min_steps, easy.max_steps, easy.scrambled) == (1, 1, False)
assert curriculum.increment_attr_level("steps")
assert curriculum.increment_attr_level("scrambled")
harder = curriculum.generate_configuration({"size": 10, "seed": 1})
assert (harder.min_steps, harder.max_steps, harder.scrambled) == (1, 3, True)
hard = create_dataset("herbrand", **vars(harder))
assert all(hard.score_answer(item["answer"], item) == 1.0 for item in hard)
assert curriculum.decrement_attr_level("steps")
curriculum.set_global_level(4)
assert curriculum.generate_configuration({"size": 1}).max_steps == 20
for wrong in ({"kinds": []}, {"kinds": ["poems"]}, {"games": []}, {"min_steps": 3, "max_steps": 2}):
    try:
        create_dataset("herbrand", **wrong)
    except AssertionError:
        continue
    raise SystemExit(f"accepted {wrong}")
print("reasoning-gym: data set and curriculum hold")
