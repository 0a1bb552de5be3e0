// The library filters its cards while one types; the page of a game says what the chosen players are.
import { $ } from "./common.js";

if ($("cards")) {
  const field = $("query");
  const cards = [...document.querySelectorAll("#cards > li")];
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      card.hidden = !wanted.every((word) => card.dataset.said.includes(word));
      shown += card.hidden ? 0 : 1;
    }
    $("amount").textContent = shown === 1 ? "1 game" : `${shown} games`;
    $("nothing").hidden = shown > 0;
  });
}

for (const seat of document.querySelectorAll("select[data-seat]")) {
  const tell = () => { $(seat.dataset.seat).textContent = seat.selectedOptions[0].dataset.about ?? ""; };
  seat.addEventListener("change", tell);
  tell();
}
