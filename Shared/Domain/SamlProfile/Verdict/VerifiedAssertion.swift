public import Clocks

/// The content of an assertion after every check of mvpd §2.3 that needs no state. Only this module creates one.
///
/// The caller still has to insert `replayKey` into the shared store in the same step in which it consumes the pending request.
public struct VerifiedAssertion: Hashable, Sendable {
    /// The key that makes the assertion unique (mvpd §2.3 step 31).
    public struct ReplayKey: Hashable, Sendable {
        public let issuer: String
        public let assertionID: String
        /// Until when the key has to be remembered; after it the assertion is refused for its age.
        public let expiresAt: Timestamp
    }

    public let replayKey: ReplayKey
    /// Nil when none was sent, and an attribute names the person: there is then nothing to end the session at the MVPD by.
    public let nameID: NameID?
    /// `SessionIndex` of the authn statement, for logout.
    public let sessionIndex: String?
    /// The end of the session that the MVPD asks for.
    public let sessionNotOnOrAfter: Timestamp?
    /// Nil without an authn statement, which only an answer to any request may lack.
    public let authnInstant: Timestamp?
    /// The raw user id: NameID, or the attribute that the endpoint names instead (mvpd §2.5).
    public let userID: ProviderUserID
    /// The names of the attributes that have a value, mapped or not.
    public let attributeNames: Set<String>
    /// The mapped attributes, in the order of the attribute map. Unknown attributes are dropped.
    public let attributes: [MappedAttribute]
}
