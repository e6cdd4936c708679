package boxoffice.client;

import java.io.IOException;

/** Why a call has no answer that counts. A TV provider's refusal is none: see {@link Decision}. */
public final class EntitlementException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * The servers' code ({@code invalid_software_statement}, {@code unknown_integration}, …), or {@code status_} and the status where they gave none;
     * {@code not_signed_in} where nobody is.
     */
    public final String code;
    /** HTTP status; 0 where no answer came. */
    public final int status;

    EntitlementException(String code, int status, String message) {
        super(message == null || message.isEmpty() ? code : code + ": " + message);
        this.code = code;
        this.status = status;
    }
}
