package import BridgeClient
package import Catalogue
package import Contracts
package import Faults
package import SamlExplanation

/// Who decides about a session and knows its person, in place of the MVPD that the session names: an upstream.
package protocol Decider: Sendable {
    /// How other services find the decider of a session.
    /// - Returns: `nil` for a session that this one does not decide about.
    func decider(of record: SessionRecord) async throws(Fault) -> BridgedSession?

    /// What the decider tells of the session's person: fresh where it can be asked, else what is kept.
    /// - Returns: Beside it the session as it is afterwards; `nil` for a session that this one does not decide about.
    func attributes(of record: SessionRecord) async throws(Fault) -> (attributes: [BridgedAttribute], session: SessionRecord)?

    /// Opens what was kept of the attributes of a session.
    func keptAttributes(_ sealed: [UInt8], of session: String) -> [UserAttribute]
}

/// Says which MVPDs a requestor offers beside those of the catalogue.
package protocol ProviderOffers: Sendable {
    /// - Parameters:
    ///   - address: Of the device, as providers may be offered by place; empty: nobody knows.
    ///   - waits: Where no list is at hand: whether one is asked for, or the MVPD is taken for offered.
    /// - Throws: `unknown_integration` for an MVPD that only a list could offer, and none does; `upstream_unavailable` where no list can be read.
    func requireOffered(
        _ mvpd: String, at requestor: String, in catalogue: Catalogue, to device: DeviceInformation, address: String, waits: Bool
    ) async throws(Fault)
}

/// Resets trials that somebody else keeps.
package protocol TrialResets: Sendable {
    /// - Returns: How many trials were forgotten; `nil` where this one does not keep the MVPD's trials.
    /// - Throws: `invalid_request` (the keeper does not let us, or knows no such trial); `upstream_unavailable`, `too_many_requests`.
    func reset(_ scope: () throws(Fault) -> TrialScope, requestor: String, mvpd: String, in catalogue: Catalogue) async throws(Fault) -> Int?
}

/// Remembers how sign-ins ended, for engineers who ask why one failed.
package protocol SignInReporting: Sendable {
    func add(_ record: SignInRecord)
}

/// Knows sign-ins that are told step by step while they go on.
package protocol SignInTraces: Sendable {
    /// - Returns: `nil`: none of that trace id is remembered.
    func report(trace: String) -> SignInReport?
}
