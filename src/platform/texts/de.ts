import type { Texts } from './en.js';

/** As `en.ts`, in German. */
export const de: Texts = {
  locale: 'de-DE',

  page: {
    description: 'Melden Sie sich bei {{brand}} mit einem Link oder einem Code an, den Sie per E-Mail erhalten.',
    problem: 'Fehler: {{title}}',
    beginAgain: 'Neu beginnen',
    needsScripts: 'Diese Seite braucht JavaScript. Erlauben Sie es in Ihrem Browser, und laden Sie die Seite dann noch einmal.',
  },

  address: {
    title: 'Anmelden',
    text: 'Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen eine E-Mail mit einem Link und einem Code zum Anmelden; ein Passwort gibt es nicht.',
    label: 'E-Mail-Adresse',
    send: 'E-Mail senden',
    invalid: 'Das ist keine E-Mail-Adresse.',
    tooManyMails: 'Es wurden zu viele E-Mails angefordert. Nehmen Sie die neueste, oder warten Sie 15 Minuten.',
    busy: 'Aus Ihrem Netz wurden sehr viele E-Mails angefordert. Warten Sie eine Minute, und versuchen Sie es dann noch einmal.',
    noMail: 'Die E-Mail konnte nicht gesendet werden. Versuchen Sie es gleich noch einmal.',
  },

  code: {
    title: 'Sehen Sie in Ihr Postfach',
    text: 'Wir haben eine E-Mail an {{email}} gesendet. Öffnen Sie den Link darin in diesem Browser, oder geben Sie hier den Code ein. Beides gilt 10 Minuten lang und nur einmal.',
    label: 'Code',
    signIn: 'Anmelden',
    anotherMail: 'Neue E-Mail senden',
    otherAddress: 'Andere Adresse verwenden',
    wrong: 'Das ist nicht der Code aus der neuesten E-Mail.',
    tooManyCodes: 'Es wurden zu viele Codes versucht. Fordern Sie eine neue E-Mail an.',
    addressLocked:
      'Für diese Adresse wurden zu viele Codes versucht. Öffnen Sie den Link in der E-Mail, oder warten Sie eine Stunde.',
  },

  link: {
    title: 'Anmelden',
    text: 'Sie melden sich als {{email}} an.',
    signIn: 'Anmelden',
  },

  gone: {
    title: 'Fordern Sie eine neue E-Mail an',
    text: 'Dieser Link oder Code gilt nicht mehr: Er wurde schon benutzt, er ist älter als 10 Minuten, oder eine neuere E-Mail hat ihn ersetzt.',
  },

  unusableLink: {
    title: 'Dieser Link gilt hier nicht',
    text: 'Der Link gilt nur einmal, und nur in dem Browser, in dem Sie die Anmeldung begonnen haben. Wenn das ein anderer ist, kehren Sie dorthin zurück, und geben Sie den Code aus derselben E-Mail ein.',
    otherwise: 'Falls Sie den Link schon benutzt haben oder jener Browser nicht mehr offen ist, beginnen Sie neu:',
  },

  expired: {
    title: 'Beginnen Sie neu',
    text: 'Diese Anmeldung ist beendet, oder sie wurde in einem anderen Browser begonnen.',
  },

  busy: {
    title: 'Zu viele Versuche',
    text: 'Aus Ihrem Netz kamen sehr viele Anmeldeversuche. Warten Sie eine Minute, und beginnen Sie dann neu.',
  },

  refused: {
    title: 'Die Anmeldung ist nicht möglich',
    text: 'Das Programm, das Sie hierher geführt hat, verlangt etwas, das es hier nicht gibt.',
  },

  unavailable: {
    title: 'Die Anmeldung ist gerade nicht möglich',
    text: 'Der Dienst, der die Anmeldung übernimmt, antwortet nicht. Warten Sie eine Minute, und laden Sie diese Seite dann noch einmal.',
  },

  deviceCode: {
    title: 'Gerät verbinden',
    text: 'Geben Sie den Code ein, den Ihr Gerät oder das Programm in Ihrem Terminal anzeigt. Fahren Sie nur fort, wenn Sie das selbst begonnen haben.',
    label: 'Code',
    goOn: 'Weiter',
    missing: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
    unknown: 'Kein Gerät wartet mit diesem Code. Vergleichen Sie ihn mit dem, den Ihr Gerät anzeigt.',
    expired: 'Dieser Code ist abgelaufen. Beginnen Sie auf Ihrem Gerät neu.',
    used: 'Dieser Code wurde schon benutzt. Beginnen Sie auf Ihrem Gerät neu.',
    formTooOld: 'Dieses Formular war zu lange offen. Geben Sie den Code noch einmal ein.',
  },

  deviceConfirm: {
    title: 'Dieses Gerät verbinden?',
    compare: 'Vergleichen Sie: Ihr Gerät muss diesen Code anzeigen.',
    commandLine: 'Doorstep auf der Kommandozeile',
    api: '{{client}} möchte in Ihrem Namen handeln: lesen und ändern, was Sie dürfen, und einen eigenen Schlüssel erhalten, der bis zum Widerruf gilt. Als Nächstes melden Sie sich an.',
    mcp: '{{client}} möchte einen Assistenten in Ihrem Namen handeln lassen: Mit seinen Werkzeugen liest und ändert er, was Sie dürfen. Als Nächstes melden Sie sich an.',
    askedFrom: 'Angefragt von {{sender}}.',
    askedFromBy: 'Angefragt von {{sender}}, mit {{program}}.',
    caution: 'Wenn Ihnen jemand diesen Code geschickt hat, lehnen Sie ab: Sonst erhält diese Person Ihren Zugang.',
    connect: 'Codes stimmen überein, verbinden',
    deny: 'Ablehnen',
  },

  deviceDone: {
    title: 'Ihr Gerät ist verbunden',
    text: 'Gehen Sie zu ihm zurück. Sie können diese Seite schließen.',
  },

  deviceDenied: {
    title: 'Es wurde nichts verbunden',
    text: 'Das Gerät erhält keinen Zugang. Sie können diese Seite schließen.',
  },

  signOut: {
    title: 'Abmelden?',
    text: 'Sie werden in diesem Browser abgemeldet.',
    signOut: 'Abmelden',
    stay: 'Angemeldet bleiben',
  },

  signedOut: {
    title: 'Sie sind abgemeldet',
    text: 'Sie können diese Seite schließen.',
    signIn: 'Wieder anmelden',
  },

  addressChange: {
    pendingTitle: 'Bestätigen Sie Ihre neue Adresse',
    pending: 'Sobald Sie sie bestätigen, melden Sie sich bei {{brand}} mit {{address}} an, und E-Mails gehen dorthin.',
    confirm: 'Diese Adresse verwenden',
    unexpected: 'Wenn Sie das nicht erwartet haben, schließen Sie diese Seite. Dann ändert sich nichts.',
    confirmedTitle: 'Ihre Adresse ist bestätigt',
    confirmed: 'Ab jetzt melden Sie sich bei {{brand}} mit {{address}} an.',
    toWebsites: 'Zu Ihren Websites',
    expiredTitle: 'Dieser Link ist abgelaufen',
    expired: 'Ihre Adresse ist wie bisher. Bitten Sie {{brand}}, sie noch einmal zu ändern; Sie erhalten dann einen neuen Link.',
    takenTitle: 'Diese Adresse wird schon verwendet',
    taken:
      'Inzwischen ist jemand anderes mit ihr bei {{brand}} bekannt. Ihre Adresse ist deshalb wie bisher. Bitten Sie {{brand}} um Hilfe.',
    goneTitle: 'Dieser Link gilt nicht mehr',
    gone: 'Er wurde ersetzt oder zurückgezogen, oder er ist nicht vollständig. Kopieren Sie den ganzen Link, oder bitten Sie {{brand}} um einen neuen.',
  },

  invoice: {
    title: 'Rechnung {{number}}',
    purpose: 'Für',
    website: 'Website',
    to: 'An',
    from: 'Von',
    date: 'Datum',
    keep: 'Drucken Sie diese Seite, um die Rechnung aufzubewahren. Mit Fragen wenden Sie sich an {{brand}}.',
    paid: 'Bezahlt. Vielen Dank.',
    paidOn: 'Bezahlt am {{day}}. Vielen Dank.',
    void: 'Storniert: Es ist nichts zu zahlen.',
    voidSince: 'Storniert am {{day}}: Es ist nichts zu zahlen.',
    open: 'Zu zahlen.',
    openUntil: 'Zu zahlen bis {{day}}.',
    missingTitle: 'Diese Rechnung gibt es nicht',
    missing: 'Der Link ist nicht vollständig. Kopieren Sie den ganzen Link, oder lassen Sie ihn sich noch einmal geben.',
  },

  mail: {
    fallback: 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse:',
  },

  signInMail: {
    subject: 'Anmelden bei {{brand}}',
    openLink: 'Öffnen Sie diesen Link in dem Browser, in dem Sie begonnen haben:',
    signIn: 'Anmelden',
    typeCode: 'Oder geben Sie dort diesen Code ein:',
    once: 'Beides gilt nur einmal, bis {{time}} Uhr UTC.',
    caution:
      'Niemand von {{brand}} fragt jemals nach diesem Code. Wenn Sie sich nicht anmelden wollten, löschen Sie diese E-Mail; es geschieht nichts.',
  },

  invitationMail: {
    subject: 'Sie sind zu {{website}} eingeladen',
    preview: 'Nehmen Sie die Einladung an und sehen Sie, wie es mit {{website}} vorangeht.',
    viewer:
      '{{brand}} gibt Ihnen Zugang zur Website {{website}}. Wenn Sie angenommen haben, sehen Sie, wie es vorangeht, und lesen die Dokumente und Zahlen.',
    editor:
      '{{brand}} gibt Ihnen Zugang zur Website {{website}}. Wenn Sie angenommen haben, sehen Sie, wie es vorangeht, lesen die Dokumente und Zahlen und bearbeiten die Inhalte.',
    accept: 'Einladung annehmen',
    transferSubject: '{{website}} ist bereit für die Übergabe an Sie',
    transferPreview: 'Nehmen Sie die Einladung an und übernehmen Sie {{website}}.',
    transfer:
      '{{brand}} lädt Sie ein, die Website {{website}} zu übernehmen. Sie sehen dann, wie es vorangeht, lesen die Dokumente und Zahlen und kümmern sich um die Abrechnung.',
    takeOver: 'Website übernehmen',
    terms:
      'Die Einladung gilt nur für Sie: Melden Sie sich mit der Adresse an, an die sie gesendet wurde. Sie können sie bis {{day}} annehmen.',
    unexpected:
      'Wenn Sie diese Einladung nicht erwartet haben, brauchen Sie nichts zu tun: Es geschieht nichts, bis Sie sie annehmen.',
  },

  linkedMail: {
    subject: 'Sie haben Zugang zu {{website}}',
    viewer: '{{brand}} hat Ihnen Zugang zur Website {{website}} gegeben: Sie sehen, wie es vorangeht.',
    editor:
      '{{brand}} hat Ihnen Zugang zur Website {{website}} gegeben: Sie sehen, wie es vorangeht, und bearbeiten die Inhalte.',
    action: 'Zu Ihren Websites',
  },

  newAddressMail: {
    subject: 'Bestätigen Sie Ihre neue Adresse',
    text: '{{brand}} möchte Ihre Adresse in diese ändern. Sobald Sie sie bestätigen, melden Sie sich mit ihr an, und E-Mails kommen hierher.',
    until: 'Sie können sie bis {{day}} bestätigen. Wenn Sie diese E-Mail nicht erwartet haben, brauchen Sie nichts zu tun.',
    action: 'Adresse bestätigen',
  },

  formerAddressMail: {
    subject: 'Ihre Adresse bei {{brand}} wurde geändert',
    text: 'Statt dieser Adresse wurde eine andere bestätigt. Mit dieser melden Sie sich nicht mehr an.',
    unexpected: 'Wenn Sie das nicht wollten, wenden Sie sich sofort an {{brand}}.',
  },

  renewalMail: {
    subject: 'Um eine neue Einladung zu {{website}} wird gebeten',
    text: 'Eine Einladung zur Website {{website}} ist abgelaufen, und die eingeladene Person bittet um eine neue.',
    resend: 'Dort senden Sie sie noch einmal. Über die API: {{call}}.',
    resendAction: 'Personen von {{website}} öffnen',
    transfer: 'Dort bieten Sie die Website noch einmal an. Über die API: {{call}}.',
    transferAction: 'Übergabe von {{website}} öffnen',
  },
};
