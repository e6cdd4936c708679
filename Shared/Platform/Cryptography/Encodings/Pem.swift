internal import Octets

/// Quirks of PEM files (RFC 7468) that people make.
public enum Pem {
    /// The text of a file, without the mark that some editors put before it (U+FEFF).
    public static func text(_ octets: some Sequence<UInt8>) -> String { text(String(decoding: Array(octets), as: UTF8.self)) }

    /// The text without the mark that some editors put before it (U+FEFF).
    public static func text(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(String.UnicodeScalarView(text.unicodeScalars.dropFirst())) : text
    }

    /// True when a private key in the text is encrypted with a passphrase. It may be PKCS #8 (RFC 7468 §11) or the older form (RFC 1421 §4.6.1.1).
    public static func holdsEncryptedKey(_ text: String) -> Bool {
        text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("DEK-Info:") || text.contains("Proc-Type: 4,ENCRYPTED")
    }
}
