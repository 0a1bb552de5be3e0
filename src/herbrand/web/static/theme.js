"use strict";
// Runs before the page is drawn: marks that scripts run, and sets the colours that the reader chose.
document.documentElement.classList.add("live");
try {
  const theme = localStorage.getItem("herbrand-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* the browser keeps nothing: the colours of the system */ }
