/**
 * What the service says to people on its own pages and in its mails, in English. `{{name}}` stands
 * for what is filled in. Another language is a file like this one, listed in `texts.ts`.
 */
export const en = {
  /** How dates and amounts are written. */
  locale: 'en-GB',

  page: {
    description: 'Sign in to {{brand}} with a link or a code that is mailed to you.',
    problem: 'Problem: {{title}}',
    beginAgain: 'Begin again',
    needsScripts: 'This page needs JavaScript. Allow it in your browser, then load the page again.',
  },

  address: {
    title: 'Sign in',
    text: 'Type in your e-mail address. We send you a mail with a link and a code to sign in with; there is no password.',
    label: 'E-mail address',
    send: 'Send me the mail',
    invalid: 'This is not an e-mail address.',
    tooManyMails: 'Too many mails were asked for. Use the newest one, or wait 15 minutes.',
    busy: 'Very many mails were asked for from your network. Wait a minute, then try again.',
    noMail: 'The mail could not be sent. Try again in a moment.',
  },

  code: {
    title: 'Look at your mail',
    text: 'We sent a mail to {{email}}. Open the link in it in this browser, or type in its code here. Either works once, within 10 minutes.',
    label: 'Code',
    signIn: 'Sign in',
    anotherMail: 'Send another mail',
    otherAddress: 'Use another address',
    wrong: 'This is not the code in the newest mail.',
    tooManyCodes: 'Too many codes were tried. Ask for another mail.',
    addressLocked: 'Too many codes were tried for this address. Open the link in the mail, or wait an hour.',
  },

  link: {
    title: 'Sign in',
    text: 'You are about to sign in as {{email}}.',
    signIn: 'Sign in',
  },

  gone: {
    title: 'Ask for another mail',
    text: 'This link or code no longer works: it was used, it is older than 10 minutes, or a newer mail took its place.',
  },

  unusableLink: {
    title: 'This link does not work here',
    text: 'The link works once, and only in the browser in which you began to sign in. If that is another one, go back to it and type in the code from the same mail.',
    otherwise: 'If you have used the link before, or no longer have that browser open, begin again:',
  },

  expired: {
    title: 'Begin again',
    text: 'This attempt to sign in has ended, or was begun in another browser.',
  },

  busy: {
    title: 'Too many attempts',
    text: 'Very many attempts to sign in came from your network. Wait a minute, then begin again.',
  },

  refused: {
    title: 'Signing in did not work',
    text: 'What sent you here asked for something that cannot be done.',
  },

  unavailable: {
    title: 'Signing in is not possible just now',
    text: 'The service that signs people in does not answer. Wait a minute, then load this page again.',
  },

  deviceCode: {
    title: 'Connect a device',
    text: 'Type in the code that your device, or the program in your terminal, shows. Only go on if you began this yourself.',
    label: 'Code',
    goOn: 'Continue',
    missing: 'Type in the code that your device shows.',
    unknown: 'No device waits with this code. Compare it with what your device shows.',
    expired: 'This code has expired. Begin again on your device.',
    used: 'This code was used already. Begin again on your device.',
    formTooOld: 'This form was open for too long. Type in the code again.',
  },

  deviceConfirm: {
    title: 'Connect this device?',
    compare: 'Compare: your device must show this code.',
    commandLine: 'Doorstep on the command line',
    api: '{{client}} asks to act in your name: to read and change whatever you may, and to get a key of its own that works until it is revoked. You sign in next, to say who you are.',
    mcp: '{{client}} asks to let an assistant act in your name: to read and change whatever you may, with its tools. You sign in next, to say who you are.',
    askedFrom: 'Asked from {{sender}}.',
    askedFromBy: 'Asked from {{sender}}, by {{program}}.',
    caution: 'If somebody sent you this code, deny: they would get your access.',
    connect: 'Codes match, connect',
    deny: 'Deny',
  },

  deviceDone: {
    title: 'Your device is connected',
    text: 'Go back to it. You can close this page.',
  },

  deviceDenied: {
    title: 'Nothing was connected',
    text: 'The device gets no access. You can close this page.',
  },

  signOut: {
    title: 'Sign out?',
    text: 'You will be signed out in this browser.',
    signOut: 'Sign out',
    stay: 'Stay signed in',
  },

  signedOut: {
    title: 'You are signed out',
    text: 'You can close this page.',
    signIn: 'Sign in again',
  },

  addressChange: {
    pendingTitle: 'Confirm your new address',
    pending: 'Once you confirm it, you sign in at {{brand}} with {{address}}, and mails go there.',
    confirm: 'Use this address',
    unexpected: 'If you did not expect this, close this page. Nothing changes then.',
    confirmedTitle: 'Your address is confirmed',
    confirmed: 'You sign in at {{brand}} with {{address}} from now on.',
    toWebsites: 'Go to your websites',
    expiredTitle: 'This link has expired',
    expired: 'Your address is as it was. Ask {{brand}} to change it again; you then get a new link.',
    takenTitle: 'This address is in use',
    taken: 'Somebody else is known with it at {{brand}} by now, so your address is as it was. Ask {{brand}} to help you.',
    goneTitle: 'This link is no longer valid',
    gone: 'It was replaced or withdrawn, or it is not complete. Copy the whole link, or ask {{brand}} for a new one.',
  },

  invoice: {
    title: 'Invoice {{number}}',
    purpose: 'For',
    website: 'Website',
    to: 'To',
    from: 'From',
    date: 'Date',
    keep: 'Print this page to keep the invoice. With questions, turn to {{brand}}.',
    paid: 'Paid. Thank you.',
    paidOn: 'Paid on {{day}}. Thank you.',
    void: 'Void: nothing is to be paid.',
    voidSince: 'Void since {{day}}: nothing is to be paid.',
    open: 'To be paid.',
    openUntil: 'To be paid by {{day}}.',
    missingTitle: 'There is no such invoice',
    missing: 'The link is not complete. Copy the whole link, or ask for it again.',
  },

  mail: {
    fallback: 'If the button does not work, open this address:',
  },

  signInMail: {
    subject: 'Sign in to {{brand}}',
    openLink: 'Open this link in the browser in which you began:',
    signIn: 'Sign in',
    typeCode: 'Or type in this code there:',
    once: 'Either works once, until {{time}} UTC.',
    caution: 'Nobody from {{brand}} ever asks for this code. If you did not ask to sign in, ignore this mail; nothing happens.',
  },

  invitationMail: {
    subject: 'You are invited to {{website}}',
    preview: 'Accept the invitation to see how {{website}} is coming along.',
    viewer:
      '{{brand}} has given you access to the website {{website}}. Once you have accepted, you can see how it is coming along and read its documents and figures.',
    editor:
      '{{brand}} has given you access to the website {{website}}. Once you have accepted, you can see how it is coming along, read its documents and figures, and edit its content.',
    accept: 'Accept the invitation',
    transferSubject: '{{website}} is ready for you to take over',
    transferPreview: 'Accept the invitation and become the owner of {{website}}.',
    transfer:
      '{{brand}} invites you to become the owner of the website {{website}}. As its owner you see how it is coming along, its documents and its figures, and you look after its billing.',
    takeOver: 'Become the owner',
    terms:
      'The invitation is meant for you alone: sign in with the address that it was sent to. It can be accepted until {{day}}.',
    unexpected: 'If you did not expect this invitation, you can leave it be: nothing happens until you accept it.',
  },

  linkedMail: {
    subject: 'You have access to {{website}}',
    viewer: '{{brand}} has given you access to the website {{website}}: you can see how it is coming along.',
    editor: '{{brand}} has given you access to the website {{website}}: you can see how it is coming along and edit its content.',
    action: 'Go to your websites',
  },

  newAddressMail: {
    subject: 'Confirm your new address',
    text: '{{brand}} is about to change your address to this one. Once you confirm it, you sign in with it, and mails come here.',
    until: 'You can confirm it until {{day}}. If you did not expect this mail, you need not do anything.',
    action: 'Confirm the address',
  },

  formerAddressMail: {
    subject: 'Your address at {{brand}} has changed',
    text: 'Another address was confirmed in place of this one, with which you no longer sign in.',
    unexpected: 'If you did not ask for this, turn to {{brand}} at once.',
  },

  renewalMail: {
    subject: 'A new invitation to {{website}} is asked for',
    text: 'An invitation to the website {{website}} has expired, and the person it was for asks for a new one.',
    resend: 'There you send it again. By the API: {{call}}.',
    resendAction: 'Open the people of {{website}}',
    transfer: 'There you offer the website again. By the API: {{call}}.',
    transferAction: 'Open the transfer of {{website}}',
  },
};

/** What is said in one language. */
export type Texts = typeof en;
