type Expects = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end';

const LITERAL = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])/y;
const STRING_PIECE = /(?:[^"\\\p{Cc}]|[\u007f-\u009f]){1,1000}|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/uy;
const WHITE_SPACE = ' \t\n\r';

/**
 * Where a text stops being JSON; its length when it only ends too early. Runs on the failure path alone, because
 * JSON.parse tells the position in some of its messages only, and repeats a piece of the body in others.
 */
export function firstSyntaxFault(text: string): number {
  const closers: ('}' | ']')[] = [];
  let expects: Expects = 'value';
  let at = 0;

  while (at < text.length) {
    const char = text[at];
    const afterValue: Expects = ', or end';
    if (WHITE_SPACE.includes(char)) at++;
    else if (expects === ', or end') {
      const closer = closers.at(-1);
      if (char === closer) closers.pop();
      else if (char === ',' && closer !== undefined) expects = closer === '}' ? 'key' : 'value';
      else return at;
      at++;
    } else if (expects === ':') {
      if (char !== ':') return at;
      expects = 'value';
      at++;
    } else if (expects === 'key' || expects === 'key or }') {
      if (char === '"') {
        const end = endOfString(text, at);
        if (text[end] !== '"') return end;
        expects = ':';
        at = end + 1;
      } else if (char === '}' && expects === 'key or }') {
        closers.pop();
        expects = afterValue;
        at++;
      } else return at;
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']');
      expects = char === '{' ? 'key or }' : 'value or ]';
      at++;
    } else if (char === ']' && expects === 'value or ]') {
      closers.pop();
      expects = afterValue;
      at++;
    } else {
      const end = char === '"' ? endOfString(text, at) : endOfLiteral(text, at);
      if (char === '"' && text[end] !== '"') return end;
      if (end === at) return at;
      expects = afterValue;
      at = char === '"' ? end + 1 : end;
    }
  }
  return at;
}

/** The closing quote, or the character at fault. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  STRING_PIECE.lastIndex = at;
  while (STRING_PIECE.test(text)) at = STRING_PIECE.lastIndex;
  return at;
}

function endOfLiteral(text: string, at: number): number {
  LITERAL.lastIndex = at;
  return LITERAL.test(text) ? LITERAL.lastIndex : at;
}
