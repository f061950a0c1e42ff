/**
 * A character that somebody sees: no space, and none that only controls a terminal, a line or the reading direction. As
 * code points, because not every reader of the OpenAPI document knows the classes of Unicode.
 */
export const visiblePattern =
  '[^\\s\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]';

const visible = new RegExp(visiblePattern, 'u');

/** Whether nothing of a text can be seen. */
export const isBlank = (text: string): boolean => !visible.test(text);
