// The analysis page: how far the solver is, until the page is loaded again with the solution.
import { $, fetched } from "./common.js";

const bar = $("solving");
if (bar) {
  const timer = setInterval(async () => {
    let job;
    try { job = await fetched(`${location.pathname}/solution`); } catch { return; }
    if (!job.running) { clearInterval(timer); location.reload(); return; }
    if (job.task === "solving") bar.value = Math.min(job.seconds, job.limit); else bar.removeAttribute("value");
    $("solver").textContent = `${job.task}, ${job.states.toLocaleString("en").replaceAll(",", "\u202f")} states, ${Math.round(job.seconds)} s`;
  }, 700);
}
