import type { Page } from 'playwright-core';

/**
 * What is wrong with the layout at the present width. A control is covered if a click on its centre reaches another
 * element. An element that stays in place while the page scrolls, such as a bar, may cover it. Text is cut if its box
 * hides a part of it without an ellipsis.
 */
export const layoutFaults = async (page: Page): Promise<string[]> => (await page.evaluate(FAULTS)) as string[];

const FAULTS = `(() => {
  const faults = [];
  const nameOf = (each) => each.tagName.toLowerCase() + ' "' + (each.ariaLabel || each.textContent || each.value || '').trim().slice(0, 40) + '"';
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push(wide + ' px too wide');

  const stays = (each) => {
    for (; each; each = each.parentElement) if (['fixed', 'sticky'].includes(getComputedStyle(each).position)) return true;
    return false;
  };
  const scrolledAway = (each, x, y) => {
    for (let box = each.parentElement; box; box = box.parentElement) {
      if (!/auto|scroll/.test(getComputedStyle(box).overflow)) continue;
      const { left, right, top, bottom } = box.getBoundingClientRect();
      if (x < left || x > right || y < top || y > bottom) return true;
    }
    return false;
  };
  // A dialog may cover the page, so only its own controls are checked.
  const page = document.querySelector('[role=dialog], [role=alertdialog]') ?? document;
  for (const control of page.querySelectorAll('a[href], button, input, select, textarea, summary')) {
    const { left, top, width, height } = control.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (width < 2 || height < 2 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    if (!control.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || control.closest('[inert]') || scrolledAway(control, x, y)) continue;
    const hit = document.elementFromPoint(x, y);
    const owner = control.closest('label');
    if (!hit || control.contains(hit) || hit.contains(control) || owner?.contains(hit) || (stays(hit) && !stays(control))) continue;
    faults.push(nameOf(control) + ' is covered by ' + nameOf(hit));
  }

  for (const each of document.querySelectorAll('body *')) {
    if (![...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    const { overflowX, textOverflow, clipPath, color } = getComputedStyle(each);
    if (clipPath !== 'none' || color === 'rgba(0, 0, 0, 0)' || each.clientWidth < 2 || !['hidden', 'clip'].includes(overflowX)) continue;
    if (each.scrollWidth > each.clientWidth + 1 && textOverflow !== 'ellipsis') faults.push('cut: ' + nameOf(each));
  }
  return faults;
})()`;
