/** What a file is, as people say it: "PDF", "PNG", or the ending of its name. */
export const typeText = (contentType: string, name: string): string => {
  const known = /^(?:image\/(\w+)|application\/(pdf|zip))$/.exec(contentType);
  const ending = /\.(\w{1,8})$/.exec(name)?.[1];
  return (known?.[1] ?? known?.[2] ?? ending ?? contentType).toUpperCase();
};
