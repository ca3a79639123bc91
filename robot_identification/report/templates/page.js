// Copyright 2026 The robot_identification developers
// SPDX-License-Identifier: Apache-2.0
//
// Read and enlarge the curves of a page. Without this script they are the same drawings.
(() => {
  'use strict';
  const STEPS = [1, 2, 2.5, 5, 10], MOST_TICKS = 7, SHORTEST_DRAG = 5, WHEEL = 1.25;

  function element(name, attributes, parent) {
    const made = document.createElementNS(parent.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  }

  // Pieces of a path, each with places across and down in units of the drawing.
  function readPath(text) {
    const pieces = [];
    let x = 0, y = 0;
    for (const [, letter, rest] of text.matchAll(/([Mlh])([^Mlh]*)/g)) {
      const numbers = (rest.match(/-?\d+/g) || []).map(Number);
      if (letter === 'h') continue;
      if (letter === 'M') {
        [x, y] = numbers;
        pieces.push({across: [x], down: [y]});
        continue;
      }
      const piece = pieces[pieces.length - 1];
      for (let k = 0; k < numbers.length; k += 2) {
        piece.across.push(x += numbers[k]);
        piece.down.push(y += numbers[k + 1]);
      }
    }
    return pieces;
  }

  // How far down a curve is at a place across; nothing where it is broken.
  function downAt(pieces, at) {
    for (const {across, down} of pieces) {
      const backward = across[0] > across[across.length - 1];
      if (at < Math.min(across[0], across[across.length - 1])) continue;
      if (at > Math.max(across[0], across[across.length - 1])) continue;
      let low = 0, high = across.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if ((across[middle] <= at) !== backward) low = middle; else high = middle;
      }
      const width = across[high] - across[low];
      const share = width ? (at - across[low]) / width : 0;
      return down[low] + share * (down[high] - down[low]);
    }
    return null;
  }

  class Panel {
    constructor(svg) {
      this.svg = svg;
      this.frame = svg.parentNode;
      [this.left, this.top, this.width, this.height] =
        ['x', 'y', 'width', 'height'].map(name => Number(svg.getAttribute(name)));
      for (const side of ['x', 'y']) {
        const [low, high, kind] = svg.dataset[side].split(' ');
        this[side] = {low: Number(low), high: Number(high), logarithmic: kind === 'log'};
      }
      this.home = this.view = [this.x.low, this.x.high];
      this.isTime = svg.dataset.time !== undefined;
      this.paths = [...svg.querySelectorAll('[data-name]')];
      this.kept = ['lines', 'marks', 'numbers'].map(name => {
        const part = this.frame.querySelector(`.${name}`);
        return [part, part.cloneNode(true)];
      });
    }

    // Read when they are needed first: most are never looked at.
    get curves() {
      this.read = this.read || this.paths.map(path => ({
        path, name: path.dataset.name, drawn: path.getAttribute('d'),
        pieces: readPath(path.getAttribute('d')),
      }));
      return this.read;
    }

    // From a place in the whole drawing to a value on the axis, and back.
    valueAt(place) {
      return this.view[0] + (place - this.left) / this.width * (this.view[1] - this.view[0]);
    }

    placeOf(value) {
      return (value - this.view[0]) / (this.view[1] - this.view[0]) * this.width;
    }

    readings(value) {
      const at = (value - this.home[0]) / (this.home[1] - this.home[0]) * this.width;
      return this.curves.map(({path, name, pieces}) => {
        const down = downAt(pieces, at);
        if (down === null) return null;
        const share = 1 - down / this.height;
        const level = this.y.low + share * (this.y.high - this.y.low);
        return {name, ink: path.getAttribute('stroke'),
                value: this.y.logarithmic ? 10 ** level : level};
      }).filter(Boolean);
    }

    mark(value) {
      const place = this.placeOf(value);
      if (!this.cross) this.cross = element('path', {stroke: 'currentColor', 'stroke-width': 12,
                                                     opacity: 0.5}, this.svg);
      this.cross.setAttribute('d', value === null || place < 0 || place > this.width ? '' :
        `M${Math.round(place)} 0V${this.height}`);
    }

    show(view) {
      const whole = view === null;
      this.view = whole ? this.home : view;
      const scale = (this.home[1] - this.home[0]) / (this.view[1] - this.view[0]);
      const shift = (this.view[0] - this.home[0]) / (this.home[1] - this.home[0]) * this.width;
      for (const {path, drawn, pieces} of this.curves) {
        path.setAttribute('d', whole ? drawn : pieces.map(({across, down}) => {
          const places = [];
          for (let k = 0; k < across.length; k++) {
            // What is outside is left out, but for its neighbours.
            const next = (across[Math.min(k + 1, across.length - 1)] - shift) * scale;
            const before = (across[Math.max(k - 1, 0)] - shift) * scale;
            if (next < 0 || before > this.width) continue;
            places.push(`${Math.round((across[k] - shift) * scale)} ${down[k]}`);
          }
          return places.length ? `M${places.join('L')}` : '';
        }).join(''));
      }
      if (whole) {
        this.kept.forEach(([part, copy], k) => {
          const again = copy.cloneNode(true);
          part.replaceWith(again);
          this.kept[k][0] = again;
        });
      } else this.drawTicks();
    }

    drawTicks() {
      const [[lines], [marks], [numbers, first]] = this.kept;
      const most = Math.min(MOST_TICKS, this.kept[2][1].childElementCount || MOST_TICKS);
      const raw = (this.view[1] - this.view[0]) / most;
      const decade = 10 ** Math.floor(Math.log10(raw));
      const step = STEPS.find(one => one * decade >= raw * (1 - 1e-9)) * decade;
      const sample = first.firstElementChild;
      const below = this.top + this.height;
      let grid = '', ticks = '';
      numbers.replaceChildren();
      for (let k = Math.ceil(this.view[0] / step); k * step <= this.view[1]; k++) {
        const at = Math.round(this.left + this.placeOf(k * step));
        grid += `M${at} ${this.top}V${below}`;
        ticks += `M${at} ${below}v70`;
        if (!sample) continue;
        const text = element('text', {x: at, y: sample.getAttribute('y'),
                                      'text-anchor': 'middle'}, numbers);
        text.textContent = String(Number((k * step).toPrecision(6)));
      }
      lines.setAttribute('d', grid);
      marks.setAttribute('d', ticks);
    }
  }

  // The arm of a recording in its pose at a time.
  class Arm {
    constructor(svg) {
      this.svg = svg.cloneNode(true);
      this.svg.removeAttribute('hidden');
      this.times = svg.dataset.times.split(' ').map(Number);
      this.poses = svg.dataset.poses.split(';').map(one => one.split(' ').map(Number));
    }

    show(time) {
      let after = this.times.findIndex(one => one >= time);
      if (after < 0) after = this.times.length - 1;
      const before = Math.max(after - 1, 0), width = this.times[after] - this.times[before];
      const share = width ? Math.min(Math.max((time - this.times[before]) / width, 0), 1) : 0;
      const places = this.poses[before].map(
        (one, k) => Math.round(one + share * (this.poses[after][k] - one)));
      const half = places.length / 2;
      [...this.svg.children].forEach((path, k) => {
        const own = k ? places.slice(0, half) : places.slice(half);
        path.setAttribute('d', `M${own.join(' ')}`);
      });
      return this.svg;
    }
  }

  class Drawing {
    constructor(svg) {
      this.svg = svg;
      this.figure = svg.closest('figure') || svg.parentNode;
      this.panels = [...svg.querySelectorAll('svg[data-x]')].map(one => new Panel(one));
      this.isTime = this.panels.some(panel => panel.isTime);
      this.group = svg.closest('.linked') || svg;
      this.arm = this.group.querySelector(':scope > .arm');
      svg.addEventListener('pointermove', event => this.move(event));
      svg.addEventListener('pointerleave', () => this.leave());
      if (!this.isTime) return;
      svg.dataset.drag = '1';
      svg.addEventListener('pointerdown', event => this.press(event));
      svg.addEventListener('dblclick', () => this.zoom(null));
      svg.addEventListener('wheel', event => this.wheel(event), {passive: false});
    }

    // Drawings of the same recording; those of the same time are enlarged together.
    get others() {
      return drawings.filter(one => one.isTime && one.group === this.group);
    }

    place(event) {
      const box = this.svg.getBoundingClientRect();
      const [, , width, height] = this.svg.getAttribute('viewBox').split(' ').map(Number);
      return [(event.clientX - box.left) / box.width * width,
              (event.clientY - box.top) / box.height * height];
    }

    panelAt([across, down]) {
      const inside = this.panels.filter(one => across >= one.left && across <= one.left + one.width);
      const near = one => Math.abs(down - one.top - one.height / 2) - one.height / 2;
      return inside.sort((one, other) => near(one) - near(other))[0];
    }

    move(event) {
      const place = this.place(event), panel = this.panelAt(place);
      if (!panel || !this.panels.some(one => one.paths.length)) return this.leave();
      const value = panel.valueAt(place[0]);
      if (this.start) this.select(place[0]);
      const linked = this.isTime ? this.others : [this];
      for (const one of linked) for (const other of one.panels) other.mark(value);
      // Panels of one time are read together, others each by itself.
      const read = this.isTime ? this.panels : [panel];
      const rows = read.flatMap(one => one.readings(value));
      const label = read.map(one => one.svg.dataset.label).filter(Boolean).pop() || '';
      this.write(event, [`${label} ${Number(value.toPrecision(5))}`, ...rows],
                 this.isTime && this.arm ? arms.get(this.arm).show(value) : '');
    }

    write(event, [head, ...rows], arm) {
      if (!this.readout) {
        this.readout = document.createElement('div');
        this.readout.className = 'readout';
        this.figure.append(this.readout);
      }
      const title = document.createElement('b');
      title.textContent = head;
      this.readout.replaceChildren(title, ...rows.map(({name, ink, value}) => {
        const line = document.createElement('div'), key = document.createElement('i');
        key.style.background = ink;
        line.append(key, `${name} ${Number(value.toPrecision(4))}`);
        return line;
      }), arm);
      const box = this.figure.getBoundingClientRect(), own = this.readout;
      const across = event.clientX - box.left;
      const flip = across > box.width / 2;
      own.style.left = flip ? 'auto' : `${across + 14}px`;
      own.style.right = flip ? `${box.width - across + 14}px` : 'auto';
      own.style.top = `${Math.max(0, event.clientY - box.top - own.offsetHeight - 10)}px`;
    }

    leave() {
      for (const one of this.isTime ? this.others : [this]) {
        for (const panel of one.panels) panel.mark(null);
      }
      if (this.readout) this.readout.remove();
      this.readout = null;
    }

    press(event) {
      const place = this.place(event), panel = this.panelAt(place);
      if (event.pointerType === 'touch' || event.button !== 0 || !panel) return;
      this.start = {panel, x: event.clientX, value: panel.valueAt(place[0])};
      // It may end beyond the drawing.
      addEventListener('pointerup', end => this.release(end), {once: true});
    }

    select(across) {
      const {panel, value} = this.start, from = panel.left + panel.placeOf(value);
      this.shade = this.shade || element('rect', {opacity: 0.15}, this.svg);
      const last = this.panels[this.panels.length - 1];
      const [low, high] = [Math.min(from, across), Math.max(from, across)];
      for (const [key, one] of Object.entries({x: low, y: this.panels[0].top, width: high - low,
          height: last.top + last.height - this.panels[0].top})) this.shade.setAttribute(key, one);
    }

    release(event) {
      const start = this.start;
      this.start = null;
      if (this.shade) this.shade.remove();
      this.shade = null;
      if (!start || Math.abs(event.clientX - start.x) < SHORTEST_DRAG) return;
      const end = start.panel.valueAt(this.place(event)[0]);
      this.zoom([Math.min(start.value, end), Math.max(start.value, end)]);
    }

    wheel(event) {
      const place = this.place(event), panel = this.panelAt(place);
      // Without the key the wheel scrolls the page, as everywhere.
      if (!event.ctrlKey || !panel) return;
      event.preventDefault();
      const about = panel.valueAt(place[0]), factor = event.deltaY > 0 ? WHEEL : 1 / WHEEL;
      this.zoom(panel.view.map(end => about + factor * (end - about)));
    }

    zoom(view) {
      const home = this.panels[0].home;
      if (view !== null) {
        view = [Math.max(view[0], home[0]), Math.min(view[1], home[1])];
        const least = 1e-4 * (home[1] - home[0]);
        if (view[1] - view[0] < least) return;
        if (view[0] === home[0] && view[1] === home[1]) view = null;
      }
      for (const one of this.others) {
        if (String(one.panels[0].home) !== String(home)) continue;
        one.panels.forEach(panel => panel.show(view));
        one.offerWhole(view !== null);
      }
    }

    offerWhole(wanted) {
      if (!wanted && this.whole) {
        this.whole.remove();
        this.whole = null;
      }
      if (!wanted || this.whole) return;
      this.whole = document.createElement('button');
      this.whole.className = 'whole';
      this.whole.textContent = 'whole recording';
      this.whole.addEventListener('click', () => this.zoom(null));
      this.figure.append(this.whole);
    }
  }

  const arms = new Map([...document.querySelectorAll('svg.arm')].map(one => [one, new Arm(one)]));
  const drawings = [...document.querySelectorAll('svg.plot')].map(svg => new Drawing(svg));
  for (const group of new Set(drawings.filter(one => one.isTime).map(one => one.group))) {
    if (!group.matches('.linked')) continue;
    const hint = document.createElement('p');
    hint.className = 'soft hint';
    hint.textContent = 'Point at a curve to read it. Drag to enlarge, or turn the wheel with ' +
      'Ctrl; a double click shows the whole recording. All curves of this time follow.';
    group.prepend(hint);
  }
})();
