// Values that programs have stumbled over before: numbers at an end, texts that are more or less than they seem, structures without end.

const DEEP = 2_000

/** Texts, each with a trick of its own. */
export const NAUGHTY_TEXTS: readonly string[] = [
  '', ' ', '\t\r\n', '\u00a0', '\u3000', '\u200b', '\ufeff', '0', '-0', '-1', '1e309', '0x10', '1_000', '٣', 'NaN', 'Infinity', 'null', 'undefined', 'true', '[object Object]', // nothing, numbers, words
  'U+0000 \0', '\u0001\u0008\u001b[31m', '\u0085\u2028\u2029', 'lone \ud800', '\udc00 lone', '\ud83d\ude00 whole', '\uffff\ufffe', // no text to some
  '\u202eright to left\u202c', '\u2066isolated\u2069', 'שלום مرحبا', '\u{e0041}\u{e007f}', 'e\u0301\u0301\u0301', 'ﷺ', 'İıſK', '👩‍👩‍👧‍👦', '\u0cb0\u0ccd\u200d\u0cb5', `a${'\u0336'.repeat(3_000)}`, // bidi, tags, marks, case
  "'; drop table events; --", '" or ""="', '\\', "\\'", '%', '%00', '%s%n', '%ff', '_%', '$1', '$$', '{{7*7}}', '${7*7}', '#{7}', '`id`', '$(id)', '| id', '; id', '&& id', // of other languages
  '../../etc/passwd', '..\\..\\x', 'C:\\x', '/dev/zero', 'file:///etc/passwd', '//evil.example', 'http://[::1', 'http://127.0.0.1:1', 'javascript:alert(1)', 'data:text/html,x', // paths and addresses
  '<script>x</script>', '<!--', ']]>', '<?xml?>', '&#0;', '&amp;amp;', '<svg onload=x>', '# a\n```\n', '[a](b', '**'.repeat(500), '>'.repeat(1_000), // markup
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'then', 'length', // names of what is there already
  '9007199254740993', '9'.repeat(400), '-9223372036854775809', '1970-01-01T00:00:00Z', '0000-00-00', '+275760-09-13T00:00:00.001Z', '2024-02-30T25:61:61Z', '#1', '#0', '#999', 'current', // ends of ranges
  '*', '**', '**/**/**/**/a', 'a*'.repeat(90), '[', '(a+)+$', 'a'.repeat(5_000), 'é'.repeat(20_000), 'word '.repeat(8_000), 'x'.repeat(600_000), // long ones
] // prettier-ignore

const nested = (open: (inner: unknown) => unknown): unknown => {
  let value: unknown = 'deep'
  for (let level = 0; level < DEEP; level++) value = open(value)
  return value
}

/** Values of any type. */
export const NAUGHTY_VALUES: readonly unknown[] = [
  null, true, false, 0, -0, -1, 0.1, 1.5, 2 ** 31, 2 ** 53 + 1, -(2 ** 53), Number.MAX_VALUE, 5e-324, [], {}, [[]], [null], [{}], { text: null }, { text: [] },
  { toString: 'x' }, { length: -1 }, { valueOf: null }, nested((inner) => [inner]), nested((inner) => ({ a: inner })), Array.from({ length: 5_000 }, () => ''),
  Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`field ${i}`, i])),
] // prettier-ignore

/** Bodies that no serializer writes. */
export const NAUGHTY_BODIES: readonly string[] = [
  '', ' ', '{', '}', '[]', '[', 'null', '"text"', '42', '1e999', '{"a":1e309}', '{"limit":1e309}', '{"title":"a","title":"b"}', '{"session_id":"a","session_id":{"b":1}}',
  '{"__proto__":{"admin":true}}', '{"__proto__":null}', '{"constructor":{"prototype":{}}}', '\ufeff{}', '{}\0', "{'a':1}", '{"a":01}', '{"a":NaN}', '{"a":1,}', '{"a":"\\ud800"}', '{"a":"\\u0000"}',
  '{"content":"\\ud800"}', '{"content":{"text":"\\u0000"}}', '[['.repeat(50_000), '['.repeat(50_000) + ']'.repeat(50_000), '{"a":'.repeat(50_000), `{"content":"${'x'.repeat(1_100_000)}"}`, '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--', 'a=1&a=2&=&%=%&a[]=1',
] // prettier-ignore
