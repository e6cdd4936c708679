/// A request names the requestor that it is made for in one of these ways (mvpd §2.2).
public enum ScopingMode: Hashable, Sendable {
    /// `/on-behalf-of/{requestor}` behind the issuer.
    case issuerSuffix
    /// `Scoping/RequesterID`.
    case requesterID
    case both
    case none

    var usesSuffix: Bool { self == .issuerSuffix || self == .both }
    var usesRequesterID: Bool { self == .requesterID || self == .both }
}
