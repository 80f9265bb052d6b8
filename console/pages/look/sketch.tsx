// A sketch of the sign-in page with colours that are not saved yet. It has the page's own colours and places; the realm's CSS
// and logo are on the pages themselves, as the console loads nothing of other sites.
import { type Palette, paletteOf } from './colours.ts';
import { useView } from './views.tsx';

export interface Brand {
  name: string;
  primaryColor: string | null;
  backgroundColor: string | null;
  welcomeText: string | null;
  hasLogo: boolean;
}

export function Sketch({ brand }: { brand: Brand }) {
  const { view } = useView();
  const palette = paletteOf(view.scheme, brand.primaryColor, brand.backgroundColor);
  return (
    <div
      className={view.isPhone ? 'sketch phone' : 'sketch'}
      style={{ background: palette.page, color: palette.text }}
      dir={view.isRightToLeft ? 'rtl' : 'ltr'}
      role="img"
      aria-label={`Sketch of the sign-in page in ${view.scheme} colours`}
    >
      <Card brand={brand} palette={palette} />
    </div>
  );
}

function Card({ brand, palette }: { brand: Brand; palette: Palette }) {
  const { card, primary, onPrimary, link, mark, soft, line, field } = palette;
  const box = { background: field, borderColor: line };
  return (
    <div className="sketch-card" style={{ background: card }}>
      {brand.hasLogo ? (
        <span className="sketch-logo" style={{ borderColor: line, color: soft }}>
          Logo
        </span>
      ) : (
        <strong className="sketch-name" style={{ borderColor: mark }}>
          <bdi>{brand.name}</bdi>
        </strong>
      )}
      <span className="sketch-title">Sign in</span>
      {brand.welcomeText && (
        <span dir="auto" style={{ color: soft }}>
          {brand.welcomeText}
        </span>
      )}
      <span className="sketch-label">Username or e-mail</span>
      <span className="sketch-box" style={box} />
      <span className="sketch-label">Password</span>
      <span className="sketch-box" style={box} />
      <span className="sketch-button" style={{ background: primary, color: onPrimary, borderColor: mark }}>
        Sign in
      </span>
      <span style={{ color: link, textDecoration: 'underline' }}>Forgot your password?</span>
    </div>
  );
}
