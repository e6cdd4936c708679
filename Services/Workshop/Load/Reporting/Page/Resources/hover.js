"use strict";
// Shows the values at the pointer, or at the place chosen with the arrow keys. All numbers are on the page without it.
for (const svg of document.querySelectorAll("svg.chart")) {
  const chart = JSON.parse(svg.dataset.chart);
  if (!chart.x || !chart.x.length) continue;
  const space = "http://www.w3.org/2000/svg";
  const [top, floor, width] = chart.h;
  const figure = svg.closest("figure");
  const box = figure.appendChild(document.createElement("output"));
  box.className = "tip";
  box.hidden = true;
  const cursor = svg.appendChild(document.createElementNS(space, "line"));
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y1", top);
  cursor.setAttribute("y2", floor);
  cursor.setAttribute("visibility", "hidden");
  let place = 0;
  let dots = [];
  const hide = () => {
    box.hidden = true;
    cursor.setAttribute("visibility", "hidden");
    dots.forEach((dot) => dot.remove());
    dots = [];
  };
  const show = (at) => {
    hide();
    place = Math.min(chart.x.length - 1, Math.max(0, at));
    const x = chart.x[place];
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.setAttribute("visibility", "visible");
    box.replaceChildren();
    box.appendChild(document.createElement("b")).textContent = chart.t[place];
    for (const line of chart.l) {
      if (!line.v[place]) continue;
      const row = box.appendChild(document.createElement("span"));
      row.appendChild(document.createElement("i")).className = "swatch " + line.c;
      row.append(line.n + " ");
      row.appendChild(document.createElement("b")).textContent = line.v[place];
      if (line.y[place] === null) continue;
      const dot = svg.appendChild(document.createElementNS(space, "circle"));
      dot.setAttribute("class", "dot " + line.c);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", line.y[place]);
      dot.setAttribute("r", 3.5);
      dots.push(dot);
    }
    box.hidden = false;
    const area = svg.getBoundingClientRect();
    const pixel = (x / width) * area.width;
    const left = pixel > area.width / 2 ? pixel - box.offsetWidth - 14 : pixel + 14;
    // Within the figure, where it would be wider than the room beside the place.
    const bounds = figure.getBoundingClientRect();
    box.style.left = Math.max(0, Math.min(left + area.left - bounds.left, bounds.width - box.offsetWidth)) + "px";
    box.style.top = area.top - bounds.top + 8 + "px";
  };
  const nearest = (event) => {
    const area = svg.getBoundingClientRect();
    const x = ((event.clientX - area.left) / area.width) * width;
    let best = 0;
    for (let i = 1; i < chart.x.length; i++) if (Math.abs(chart.x[i] - x) < Math.abs(chart.x[best] - x)) best = i;
    return best;
  };
  svg.addEventListener("pointermove", (event) => show(nearest(event)));
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
    if (event.key === "Escape") hide();
    if (step === undefined) return;
    event.preventDefault();
    show(box.hidden ? place : place + step);
  });
}
