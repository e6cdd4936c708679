/// One of the ordered checks of mvpd §2.3.
public enum Check: Int, Hashable, Sendable, CaseIterable {
    case parameters = 1
    case size = 2
    case base64 = 3
    case pendingRequest = 4
    case form = 5
    case root = 6
    case identifiers = 7
    case assertionPosition = 8
    case signaturePosition = 9
    case signaturePolicy = 10
    case reference = 11
    case transforms = 12
    case noObjects = 13
    case algorithms = 14
    case pinnedKey = 15
    case signature = 16
    case digestedOctets = 17
    case decryption = 18
    case destination = 19
    case issueInstant = 20
    case inResponseTo = 21
    case responseIssuer = 22
    case status = 23
    case assertionForm = 24
    case assertionIssuer = 25
    case subject = 26
    case confirmation = 27
    case conditions = 28
    case audience = 29
    case authnStatement = 30
    case replay = 31
    case attributes = 32

    /// The number of the check in mvpd §2.3.
    public var step: Int { rawValue }
}
