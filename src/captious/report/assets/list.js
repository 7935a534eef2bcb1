// A list of any length; only the rows in sight exist. Arrow keys, Page Up and Down, Home and End move in it.

const AROUND = 8; // rows beyond each edge

class List {
  /**
   * @param {string} label what the list is called
   * @param {(row: number) => Node[]} content of a row
   * @param {(row: number) => void} chosen is called when another row is selected
   */
  constructor(label, content, chosen) {
    this.content = content;
    this.chosen = chosen;
    this.rows = [];
    this.position = -1;
    this.inner = element("div", { role: "presentation", class: "inner" });
    this.node = element("div", {
      role: "listbox", class: "list", tabindex: 0, "aria-label": label,
      onscroll: () => this.draw(), onkeydown: (event) => this.key(event),
    }, this.inner);
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  /** Other rows; the first is selected. */
  show(rows) {
    this.rows = rows;
    this.node.scrollTop = 0;
    this.inner.replaceChildren();
    this.select(rows.length ? 0 : -1);
  }

  /** Draw the rows in sight again. */
  again() {
    this.inner.replaceChildren();
    this.draw();
  }

  /** Draw the rows that are printed. */
  print(most) {
    const first = Math.floor(this.node.scrollTop / this.height);
    this.inner.replaceChildren(...Array.from(this.rows.slice(first, first + most), (_, i) => this.option(first + i)));
  }

  select(position) {
    this.position = position;
    if (position >= 0) {
      const height = this.height, top = position * height, view = this.node.clientHeight;
      if (top < this.node.scrollTop) this.node.scrollTop = top;
      else if (top + height > this.node.scrollTop + view) this.node.scrollTop = top + height - view;
    }
    this.draw();
    this.chosen(position < 0 ? -1 : this.rows[position]);
  }

  get height() {
    return parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  draw() {
    const height = this.height, n = this.rows.length;
    this.inner.style.height = `${n * height}px`;
    const first = Math.max(0, Math.floor(this.node.scrollTop / height) - AROUND);
    const last = Math.min(n, Math.ceil((this.node.scrollTop + this.node.clientHeight) / height) + AROUND);
    const present = new Map([...this.inner.children].map((option) => [Number(option.dataset.position), option]));
    for (const [position, option] of present) if (position < first || position >= last) option.remove();
    for (let position = first; position < last; position++) {
      const option = present.get(position) ?? this.option(position);
      option.style.transform = `translateY(${position * height}px)`;
      option.setAttribute("aria-selected", String(position === this.position));
      if (!present.has(position)) this.inner.append(option);
    }
    const isDrawn = this.position >= first && this.position < last;
    if (isDrawn) this.node.setAttribute("aria-activedescendant", `option-${this.position}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  option(position) {
    return element("div", {
      role: "option", id: `option-${position}`, class: "option", "data-position": position,
      "aria-setsize": this.rows.length, "aria-posinset": position + 1,
      onclick: () => this.select(position),
    }, this.content(this.rows[position]));
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.node.clientHeight / this.height) - 1), last = this.rows.length - 1;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last - 1, End: last + 1 };
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey || last < 0) return;
    event.preventDefault();
    this.move(moves[event.key]);
  }

  move(by) {
    this.select(Math.min(Math.max(this.position + by, 0), this.rows.length - 1));
  }
}
