"use strict";
// Search and filter: everything with data-task is shown or hidden by what the card of that task says.
const cards = [...document.querySelectorAll(".task")];
const words = document.getElementById("words");
const buttons = [...document.querySelectorAll("nav button[data-state]")];
const texts = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));
let state = "";

function matches(card) {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = !state || card.dataset.state.split(" ").includes(state);
  return fits && wanted.every((word) => texts.get(card).includes(word));
}

function filter() {
  const found = new Set(cards.filter(matches).map((card) => card.dataset.task));
  const all = found.size === cards.length;
  for (const entry of document.querySelectorAll(".entry")) entry.hidden = !found.has(entry.dataset.task);
  for (const node of document.querySelectorAll(".node")) node.classList.toggle("faint", !found.has(node.dataset.task));
  for (const edge of document.querySelectorAll(".edges path")) {
    edge.classList.toggle("faint", !(found.has(edge.dataset.from) && found.has(edge.dataset.to)));
  }
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.state === state));
  document.getElementById("found").textContent = all ? "" : `${found.size} of ${cards.length} tasks`;
}

function reveal() {
  const card = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (card && card.matches(".task")) {
    card.open = true;
    card.scrollIntoView();
  }
}

function setAll(open) {
  for (const card of cards) card.open = open;
}

function light(event) {
  const task = event.target.closest("[data-task]")?.dataset.task;
  for (const edge of document.querySelectorAll(".edges path")) {
    edge.classList.toggle("lit", task !== undefined && (edge.dataset.from === task || edge.dataset.to === task));
  }
}

words.addEventListener("input", filter);
for (const button of buttons) {
  button.addEventListener("click", () => {
    state = button.dataset.state;
    filter();
  });
}
document.getElementById("open").addEventListener("click", () => setAll(true));
document.getElementById("close").addEventListener("click", () => setAll(false));
document.querySelector(".graph")?.addEventListener("mouseover", light);
addEventListener("hashchange", reveal);
filter();
reveal();
