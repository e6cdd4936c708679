public import Contracts

/// An app of a programmer, as Apple names it (apple §2.8).
public struct AppleApp: Hashable, Sendable {
    /// Id of the programmer.
    public let programmer: String
    public let team: AppleTeam
    public let group: AppleAppGroup
    /// A bundle id, or a Services ID.
    public let clientID: String
    /// Native apps have bundle ids, web sign-in has a Services ID.
    public let isNative: Bool
}

extension AppleAppGroup {
    /// Every app that shares the group's consent: bundle ids, then Services IDs.
    public var clientIDs: [String] { bundleIDs + servicesIDs }
}
