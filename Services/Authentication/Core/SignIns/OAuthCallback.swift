internal import TextEncodings

/// Where an OAuth provider sends browsers back.
///
/// Each record has an address of its own, so that an answer that comes to another one's is told from an answer of its own provider: a hostile provider could else have a
/// person's browser bring it the code of an honest one (mix-up, RFC 9700 §4.4.2).
struct OAuthCallback: Hashable, Sendable {
    /// The address that records of before share, exactly as the MVPDs know it.
    let shared: String
    /// The id of the record whose own address it is; empty: it is the shared one.
    let holder: String

    /// The redirect URI.
    var address: String { holder.isEmpty ? shared : "\(shared)/\(PercentEncoding.encode(holder))" }

    /// Whether an answer came to it.
    /// - Parameter place: The id of the callback's path; empty: it came to the shared address.
    func isAt(_ place: String) -> Bool { OctetText(place) == OctetText(holder) }
}

/// What is asked of answers that come to the shared address.
public enum SharedCallbackRule: String, Decodable, Sendable {
    /// As before there were others: `iss` is checked where it is sent.
    case open
    /// An answer without `iss` is refused.
    case iss
}
