/**
 * The mail as MJML. `[[name]]` stands for a text that is filled in after the markup has become
 * HTML, so that input is never treated as markup.
 */
export const invitationTemplate = `
<mjml lang="en">
  <mj-head>
    <mj-title>[[heading]]</mj-title>
    <mj-preview>[[preview]]</mj-preview>
    <mj-attributes>
      <mj-all font-family="-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" />
      <mj-text font-size="16px" line-height="1.6" color="#1f2933" padding="8px 32px" />
    </mj-attributes>
    <mj-style>
      .name { overflow-wrap: anywhere; }
      .address a { color: #1d4ed8; overflow-wrap: anywhere; }
    </mj-style>
  </mj-head>
  <mj-body background-color="#f3f5f7" width="560px">
    <mj-section padding="24px 0 0" />
    <mj-section background-color="#ffffff" border-radius="12px" padding="32px 0 24px">
      <mj-column>
        <mj-text css-class="name" font-size="24px" line-height="1.3" font-weight="700"><h1 style="margin:0;font-size:24px;line-height:1.3">[[heading]]</h1></mj-text>
        <mj-text css-class="name">[[body]]</mj-text>
        <mj-button href="[[link]]" align="left" background-color="#1d4ed8" color="#ffffff" font-size="16px" font-weight="600" border-radius="8px" inner-padding="14px 28px" padding="16px 32px">[[action]]</mj-button>
        <mj-text font-size="14px" color="#52606d">[[terms]]</mj-text>
        <mj-text css-class="address" font-size="14px" color="#52606d">If the button does not work, open this address:<br /><a href="[[link]]">[[link]]</a></mj-text>
      </mj-column>
    </mj-section>
    <mj-section padding="16px 0 32px">
      <mj-column>
        <mj-text font-size="13px" color="#52606d" align="center">If you did not expect this invitation, you can leave it be: nothing happens until you accept it.</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
