/// What may go wrong between a platform and an MVPD, on demand (mvpd §2.8, §5 item 2).
enum PlatformFlaw: String, Sendable, Decodable {
    /// A new login has already expired.
    case expiredLogin
    /// Metadata without the MVPD's answer.
    case noAnswer
    /// The account turns out to be another provider's.
    case otherProvider
    /// The MVPD's answer is a refusal.
    case declined
    case unsigned
    /// Signed by another MVPD's key.
    case foreignSigner
    /// An hour old.
    case stale
    /// It answers a request that was never made.
    case foreignRequest
    /// It is meant for another service provider.
    case foreignAudience
    /// One of the attributes that were asked for is left out.
    case missingAttribute
    /// Line breaks and blanks inside the signed content: valid, unless an app collapses white space.
    case prettyPrinted
    /// Line breaks between the attributes of an element: no well-formed XML after an app removes them.
    case brokenAttributes
    /// White space around the message only: an app may remove it.
    case surroundingSpace
}
