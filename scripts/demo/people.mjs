/** Who is in the demo. All names are made up, and `.example` addresses lead nowhere. */

export const brand = { BRAND_NAME: 'Northlight', BRAND_COLOR: '#1f5f5b' };

/**
 * @typedef {object} Person
 * @property {string} email
 * @property {string} name
 * @property {string} [shows] - what whoever signs in as them sees; absent: not named to newcomers
 */

const named = /** @satisfies {Record<string, Person>} */ ({
  operator: { email: 'mara@northlight.example', name: 'Mara Okonjo', shows: 'the operator: every website' },
  anna: { email: 'anna@corner-bakery.example', name: 'Anna Lindqvist', shows: 'a client: owns Corner Bakery' },
  leila: { email: 'leila@studio-haddad.example', name: 'Leila Haddad', shows: 'an editor of two websites' },
  tomas: { email: 'tomas@corner-bakery.example', name: 'Tomás Herrera', shows: 'a viewer of Corner Bakery' },
  yuki: { email: 'yuki@tanaka-ceramics.example', name: 'Yuki Tanaka' },
  chidi: { email: 'chidi@okafor-architects.example', name: 'Chidi Okafor' },
  mateus: { email: 'mateus@duarte-dental.example', name: 'Mateus Duarte' },
  priya: { email: 'priya@mehta-tax.example', name: 'Priya Mehta' },
  giulia: { email: 'giulia@rossi-bikes.example', name: 'Giulia Rossi' },
  amara: { email: 'amara@sunrise-yoga.example', name: 'Amara Diallo' },
  wen: { email: 'wen@green-valley-vet.example', name: 'Wen Zhao' },
  jonas: { email: 'jonas@brass-and-oak.example', name: 'Jonas Weber' },
  ingrid: { email: 'ingrid@fjord-kayaks.example', name: 'Ingrid Solberg' },
  nikos: { email: 'nikos@harbour-cafe.example', name: 'Nikos Papadakis' },
  samir: { email: 'samir@cafe-ondine.example', name: 'Samir Benali' },
  odile: { email: 'odile@cafe-ondine.example', name: 'Odile Marchand' },
});

/** @type {Readonly<Record<keyof typeof named, Person>>} */
export const people = named;
