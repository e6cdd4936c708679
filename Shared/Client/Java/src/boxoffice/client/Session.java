package boxoffice.client;

/** A person who is signed in. */
public final class Session {
    public final String mvpd;
    /** By the server's clock, in ms since 1970. */
    public final long expires;

    Session(String mvpd, long expires) {
        this.mvpd = mvpd;
        this.expires = expires;
    }
}
