package boxoffice.client;

/** A sign-in that has begun. */
public final class SignIn {
    public final String mvpd;
    /** What a TV shows, for the page on which people type it; null where nothing is left to do. */
    public final String code;
    /** The login page, for a browser or a custom tab; null where nothing is left to do. */
    public final String url;
    /** By the server's clock, in ms since 1970; 0 where nothing is left to do. */
    public final long codeExpires;

    SignIn(String mvpd, String code, String url, long codeExpires) {
        this.mvpd = mvpd;
        this.code = code;
        this.url = url;
        this.codeExpires = codeExpires;
    }

    /** True where the person is signed in without a page: a free preview, a provider that is bypassed, a session that is still good. */
    public boolean isDone() {
        return url == null;
    }
}
