// Moves the window of each picture, steps through its events and says what is under the pointer. Everything that it shows is in the page;
// without it the page shows the window of the first violation.
"use strict";
(() => {
  const LEFT = 84, MARGIN = 8, STEPS = [1, 2, 5, 10];

  const span = us => {
    if (us < 1000) return us + "us";
    if (us < 1e6) return us % 1000 ? (us / 1000).toFixed(3) + "ms" : us / 1000 + "ms";
    return us % 1e6 === 0 ? us / 1e6 + "s" : (us / 1e6).toFixed(us % 1000 ? 6 : 3) + "s";
  };

  class Picture {
    constructor(root) {
      this.root = root;
      this.view = root.querySelector(".view");
      this.svg = this.view.querySelector("svg");
      this.detail = root.querySelector(".detail");
      this.end = +root.dataset.end;
      this.prefix = root.dataset.prefix;
      const each = selector => [...this.svg.querySelectorAll(selector)];
      this.bars = each("rect[data-a]");
      this.words = each("text[data-words]");
      this.lines = each("line[data-a]");
      this.groups = each("g[data-a]");
      this.curves = each("polyline[data-points]").map(curve => [curve, curve.dataset.points.split(" ").map(pair => pair.split(",").map(Number))]);
      this.axis = this.svg.querySelector(".axis");
      this.marks = each(".mark[id]");
      this.chosen = -1;
      this.window = [+root.dataset.from, +root.dataset.to];
      this.listen();
      this.resize();
    }

    resize() {
      const width = Math.max(300, this.view.clientWidth);
      this.width = width;
      const height = this.svg.getAttribute("height");
      this.svg.setAttribute("width", width);
      this.svg.setAttribute("viewBox", "0 0 " + width + " " + height);
      for (const lane of this.svg.querySelectorAll("rect.lane, rect.window")) lane.setAttribute("width", width - LEFT - MARGIN);
      this.draw();
    }

    x(at) {
      const [from, to] = this.window, wide = this.width - LEFT - MARGIN;
      return LEFT + Math.max(-wide, Math.min(2 * wide, (at - from) / (to - from) * wide));
    }

    draw() {
      const right = this.width - MARGIN;
      for (const bar of this.bars) {
        const x = this.x(+bar.dataset.a), end = this.x(+bar.dataset.b);
        bar.setAttribute("x", x.toFixed(1));
        bar.setAttribute("width", Math.max(1.5, end - x).toFixed(1));
      }
      for (const words of this.words) {
        const x = Math.max(LEFT, this.x(+words.dataset.a)), room = Math.min(right, this.x(+words.dataset.b)) - x;
        const text = words.dataset.words.split("\n").find(one => one.length * 6.2 + 12 <= room);
        words.toggleAttribute("display", false);
        if (text === undefined) words.setAttribute("display", "none");
        else if (words.textContent !== text) words.textContent = text;
        words.setAttribute("x", (x + 9).toFixed(1));
      }
      for (const line of this.lines) {
        line.setAttribute("x1", this.x(+line.dataset.a).toFixed(1));
        line.setAttribute("x2", this.x(+line.dataset.b).toFixed(1));
      }
      for (const group of this.groups) group.setAttribute("transform", "translate(" + this.x(+group.dataset.a).toFixed(1) + " " + group.dataset.y + ")");
      for (const [curve, points] of this.curves) curve.setAttribute("points", points.map(([at, y]) => this.x(at).toFixed(1) + "," + y).join(" "));
      this.drawAxis();
      this.root.dataset.window = this.window.map(Math.round).join("-");
    }

    drawAxis() {
      const [from, to] = this.window, bottom = this.axis.dataset.bottom;
      const least = Math.max(1, (to - from) / Math.max(1, Math.floor((this.width - LEFT) / 120)));
      const power = 10 ** Math.floor(Math.log10(least));
      const step = STEPS.map(factor => factor * power).find(one => one >= least) || 10 * power;
      let markup = "";
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const x = this.x(at).toFixed(1);
        markup += `<line x1="${x}" x2="${x}" y1="18" y2="${bottom}"/><text x="${x}" y="13">${span(Math.round(at))}</text>`;
      }
      this.axis.innerHTML = markup;
    }

    show(from, to) {
      const least = 200, length = Math.max(least, Math.min(to - from, this.end * 1.02));
      from = Math.max(-this.end * .01, Math.min(from, this.end * 1.01 - length));
      this.window = [from, from + length];
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.draw());
    }

    zoom(factor, place = .5) {
      const [from, to] = this.window, at = from + (to - from) * place;
      this.show(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(part) {
      const [from, to] = this.window, by = (to - from) * part;
      this.show(from + by, to + by);
    }

    focus(index, button) {
      for (const other of this.root.querySelectorAll("[data-focus-on]")) other.setAttribute("aria-pressed", String(other === button));
      for (const badges of this.svg.querySelectorAll(".badges")) badges.setAttribute("display", badges.dataset.focus === index ? "inline" : "none");
      this.show(+button.dataset.from, +button.dataset.to);
    }

    step(by) {
      const visible = mark => mark.getAttribute("visibility") !== "hidden";
      let next = this.chosen;
      if (next < 0) {
        next = this.marks.findIndex(mark => +mark.dataset.a >= this.window[0]) - (by > 0 ? 1 : 0);
      }
      do next += by; while (this.marks[next] && !visible(this.marks[next]));
      if (this.marks[next]) this.choose(this.marks[next], true);
    }

    choose(element, move) {
      this.svg.querySelectorAll(".chosen").forEach(other => other.classList.remove("chosen"));
      element.classList.add("chosen");
      const index = this.marks.indexOf(element);
      if (index >= 0) this.chosen = index;
      this.tell(element);
      const at = +element.dataset.a, [from, to] = this.window;
      if (move && (at < from || at > to)) this.show(at - (to - from) / 2, at + (to - from) / 2);
    }

    tell(element) {
      const title = element.querySelector("title");
      if (element.id) {
        const event = element.id.slice(this.prefix.length);
        this.detail.innerHTML = "<a></a> <b></b> <span></span>";
        const link = this.detail.querySelector("a");
        link.textContent = "#" + event;
        link.href = "#" + element.id;
        this.detail.querySelector("b").textContent = span(+element.dataset.a) + " " + element.dataset.node;
        this.detail.querySelector("span").textContent = element.dataset.text + this.wire(element);
      } else if (title) {
        this.detail.textContent = span(+element.dataset.a) + " " + title.textContent + this.reply(element);
      }
    }

    // The message that carried an event: it arrived at this node at this instant, or left it then.
    wire(mark) {
      const at = mark.dataset.a, node = mark.dataset.node;
      const near = this.lines.find(line => (line.dataset.to === node && line.dataset.b === at) || (line.dataset.from === node && line.dataset.a === at));
      const title = near && near.querySelector("title");
      return title ? " · on the wire: " + title.textContent + this.reply(near) : "";
    }

    // The next message the other way, between the same two, after this one arrived.
    reply(line) {
      if (!line.dataset.from) return "";
      const back = this.lines.filter(other => other.dataset.from === line.dataset.to && other.dataset.to === line.dataset.from && +other.dataset.a >= +line.dataset.b);
      back.sort((one, other) => one.dataset.a - other.dataset.a);
      const title = back[0] && back[0].querySelector("title");
      return title ? " → next the other way: " + title.textContent : "";
    }

    filter() {
      const hidden = new Set([...this.root.querySelectorAll("[data-lane]")].filter(box => !box.checked).map(box => box.dataset.lane));
      const wire = this.root.querySelector("[data-wire]");
      for (const element of this.svg.querySelectorAll("[data-node]")) {
        element.setAttribute("visibility", hidden.has(element.dataset.node) ? "hidden" : "visible");
      }
      for (const element of this.svg.querySelectorAll("[data-from]")) {
        const off = hidden.has(element.dataset.from) || hidden.has(element.dataset.to) || (wire && !wire.checked);
        element.setAttribute("visibility", off ? "hidden" : "visible");
      }
    }

    act(name, button) {
      const acts = {
        in: () => this.zoom(.5), out: () => this.zoom(2), left: () => this.pan(-.25), right: () => this.pan(.25),
        previous: () => this.step(-1), next: () => this.step(1),
      };
      if (acts[name]) acts[name]();
      if (button && button.dataset.focusOn !== undefined) this.focus(button.dataset.focusOn, button);
    }

    listen() {
      this.root.addEventListener("click", event => {
        const button = event.target.closest("button");
        if (button) return this.act(button.dataset.act, button);
        const element = event.target.closest(".view .mark[id], .view line.message");
        if (element) this.choose(element, false);
      });
      this.root.addEventListener("change", () => this.filter());
      this.view.addEventListener("pointerover", event => {
        const element = event.target.closest(".mark[id], line.message");
        if (element) this.tell(element);
      });
      const keys = { ArrowRight: "next", ArrowLeft: "previous", "+": "in", "=": "in", "-": "out", PageDown: "right", PageUp: "left" };
      this.view.addEventListener("keydown", event => {
        if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
          event.preventDefault();
          this.act(keys[event.key]);
        }
      });
      this.view.addEventListener("wheel", event => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const place = (event.clientX - this.view.getBoundingClientRect().left - LEFT) / (this.width - LEFT - MARGIN);
        this.zoom(event.deltaY > 0 ? 1.25 : .8, Math.max(0, Math.min(1, place)));
      }, { passive: false });
      this.listenForDrag();
    }

    listenForDrag() {
      let start = null;
      this.view.addEventListener("pointerdown", event => {
        if (event.button === 0) start = { x: event.clientX, window: this.window };
      });
      addEventListener("pointermove", event => {
        if (!start) return;
        const [from, to] = start.window, by = (start.x - event.clientX) / (this.width - LEFT - MARGIN) * (to - from);
        if (Math.abs(start.x - event.clientX) < 4) return;
        this.view.classList.add("drags");
        this.show(from + by, to + by);
      });
      for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => {
        start = null;
        this.view.classList.remove("drags");
      });
    }
  }

  // In a matrix, arrow keys go from cell to cell; it is one stop for the tab key.
  const matrices = [...document.querySelectorAll("table.matrix")];
  for (const table of matrices) {
    const links = [...table.querySelectorAll("td a")];
    const stop = at => links.forEach(link => { link.tabIndex = link === at ? 0 : -1; });
    stop(links[0]);
    table.addEventListener("focusin", event => links.includes(event.target) && stop(event.target));
    table.addEventListener("keydown", event => {
      const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      const from = event.target.closest("td");
      if (!by || !from) return;
      event.preventDefault();
      let [row, column] = [from.parentNode.rowIndex + by[0], from.cellIndex + by[1]];
      for (let next; (next = table.rows[row]?.cells[column]); row += by[0], column += by[1]) {
        const link = !next.hidden && !next.parentNode.hidden && next.querySelector("td a");
        if (link) return link.focus();
      }
    });
  }

  // Words of a filter leave out the locks and faults without them.
  const filters = [...document.querySelectorAll("input[data-filter]")];
  const filter = () => {
    const asked = Object.fromEntries(filters.map(input => [input.dataset.filter, input.value.trim().toLowerCase()]));
    const fits = (name, words) => name.toLowerCase().includes(words);
    for (const table of matrices) {
      const shown = [...table.tHead.rows[0].cells].map((cell, at) => at === 0 || fits(cell.textContent, asked.fault));
      for (const row of table.rows) {
        row.hidden = row.parentNode !== table.tHead && !fits(row.cells[0].textContent, asked.lock);
        [...row.cells].forEach((cell, at) => { cell.hidden = !shown[at]; });
      }
    }
    for (const section of document.querySelectorAll("[data-lock]")) section.hidden = !fits(section.dataset.lock, asked.lock);
  };
  for (const input of filters) input.addEventListener("input", filter);

  const pictures = [...document.querySelectorAll("[data-picture]")].map(root => new Picture(root));
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const picture = target && pictures.find(one => one.svg.contains(target));
    if (picture) {
      picture.choose(target, true);
      picture.root.scrollIntoView({ block: "start" });
    }
  };
  addEventListener("hashchange", follow);
  addEventListener("resize", () => pictures.forEach(picture => picture.resize()));
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => {
    const done = () => { button.textContent = "Copied"; };
    if (navigator.clipboard) navigator.clipboard.writeText(button.dataset.copy).then(done, () => {});
  });
  follow();
})();
