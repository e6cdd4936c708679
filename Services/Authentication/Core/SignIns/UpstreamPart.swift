package import BridgeClient
package import Clocks
package import Contracts
internal import Cryptography

/// The upstream's part of a session that its login made (bridge §2). It outlives the session where upstream has to be told of the logout.
package struct UpstreamPart: Hashable, Sendable {
    package let session: SessionID
    package let key: SessionKey
    package let mvpd: MvpdID
    package let upstream: String
    package let serviceProvider: String
    package let theirMvpd: String
    package let slot: String
    /// Upstream's word: `regular`, `temporary`, …
    package let kind: String
    package let startsAt: Timestamp
    package var expiresAt: Timestamp
    package var confirmedAt: Timestamp
    /// A decision said that nobody is signed in: upstream is asked before anything else.
    package var isSuspect = false
    /// A decision was made since, which may have changed what is known of the person: upstream is asked before that is told.
    package var mayHaveChanged = false
    /// Under what the id of the person in media tokens is remembered; known only while the part is made.
    package var person: String?
    /// Names of attributes that upstream encrypted.
    package var encryptedNames: [String]
    /// Sealed.
    package var attributes: [UInt8]
    package let device: DeviceInformation
    package let userAgent: String
    /// The mark of the household that upstream told just now; `nil`: it is in the session's row. Its name is in the sealed attributes.
    package var household: String?

    package init(
        session: SessionID, key: SessionKey, mvpd: MvpdID, upstream: String, serviceProvider: String, theirMvpd: String, slot: String,
        kind: String, startsAt: Timestamp, expiresAt: Timestamp, confirmedAt: Timestamp, isSuspect: Bool = false, mayHaveChanged: Bool = false,
        person: String? = nil, encryptedNames: [String], attributes: [UInt8], device: DeviceInformation, userAgent: String,
        household: String? = nil
    ) {
        (self.session, self.key, self.mvpd, self.upstream) = (session, key, mvpd, upstream)
        (self.serviceProvider, self.theirMvpd, self.slot, self.kind) = (serviceProvider, theirMvpd, slot, kind)
        (self.startsAt, self.expiresAt, self.confirmedAt, self.isSuspect) = (startsAt, expiresAt, confirmedAt, isSuspect)
        (self.mayHaveChanged, self.person, self.encryptedNames, self.attributes) = (mayHaveChanged, person, encryptedNames, attributes)
        (self.device, self.userAgent, self.household) = (device, userAgent, household)
    }

    /// The integration that it came by, as upstream calls it.
    package var integration: BridgeCall.Integration { BridgeCall.Integration(serviceProvider, theirMvpd) }

    /// True when a logout has to tell upstream: a trial and a degradation rule know none (bridge §10.2).
    package var knowsLogout: Bool { !isTrial && kind != BridgedProfile.Kind.degraded.rawValue }

    /// True when its end is not one that upstream told: then upstream is asked, and the session does not end (bridge §8.1).
    package var endsByLimit: Bool { BridgedEnd.isOurs(expiresAt, toldAt: confirmedAt) }

    package var isTrial: Bool { kind == BridgedProfile.Kind.temporary.rawValue }
    /// True for the platform's own sign-in (bridge §11).
    package var isPartners: Bool { kind == BridgedProfile.Kind.appleSSO.rawValue }
    /// True for a login elsewhere: upstream shows it only to calls that say who the person is.
    package var isShared: Bool { kind == BridgedProfile.Kind.platformSSO.rawValue || kind == BridgedProfile.Kind.serviceTokenSSO.rawValue }
}

/// A login that the provider ended, and that is remembered for a while (bridge §8.1).
package struct GoneLogin: Hashable, Sendable {
    package let mvpd: MvpdID
    /// The moment at which that was seen here.
    package let at: Timestamp

    package init(mvpd: MvpdID, at: Timestamp) { (self.mvpd, self.at) = (mvpd, at) }
}

extension DeviceID {
    /// Stands for the device in the name of a client of ours that serves it alone (bridge §4.1).
    package var slotDigest: String { Hex.encode(SHA256.hash(text)) }
}
