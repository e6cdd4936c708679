internal import Octets

/// An advanced code (client-sdk §2.6).
public struct StatusCode: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public var description: String { rawValue }

    // The platform
    /// The platform's framework failed, in `setRequestor`.
    public static let platformFailed: StatusCode = "APPL"
    /// The platform's framework failed, in `checkAuthentication`.
    public static let platformCheckFailed: StatusCode = "APPL_ERROR"
    /// Signed out while the platform stays signed in.
    public static let signOutInSettings: StatusCode = "VSA203"
    public static let permissionDenied: StatusCode = "VSA403"
    public static let permissionUndetermined: StatusCode = "VSA404"
    public static let platformRequestFailed: StatusCode = "VSA503"

    // Authentication
    public static let notAuthenticated: StatusCode = "N000"
    public static let passiveLogin: StatusCode = "N001"
    public static let otherProvider: StatusCode = "N003"
    public static let unsupportedProvider: StatusCode = "N004"
    public static let pickerCancelled: StatusCode = "N005"
    public static let degradedAuthentication: StatusCode = "N010"
    public static let tempPass: StatusCode = "N011"
    public static let tempPassExpired: StatusCode = "N111"
    public static let noSession: StatusCode = "N130"
    public static let authenticationFailed: StatusCode = "N500"

    // Registration and configuration
    public static let statementRefused: StatusCode = "R400"
    public static let noAccessToken: StatusCode = "R401"
    public static let noRegistrationCode: StatusCode = "REG500"
    public static let registrationCode: StatusCode = "REGCODE"
    public static let wrongClock: StatusCode = "CFG100"
    public static let badRequestor: StatusCode = "CFG400"
    public static let serversNotFound: StatusCode = "CFG404"
    public static let configurationThrottled: StatusCode = "CFG429"
    public static let domainNotAllowed: StatusCode = "SEC403"
    public static let deviceChanged: StatusCode = "SEC412"
    public static let transportInsecure: StatusCode = "SEC420"

    /// A server's failure to give the configuration.
    /// - Parameter status: HTTP's status, 500 to 599.
    public static func configurationUnavailable(status: Int) -> StatusCode { StatusCode(rawValue: "CFG\(status)") }

    // Authorization
    public static let degradedAuthorization: StatusCode = "Z010"
    public static let tempPassAuthorization: StatusCode = "Z011"
    public static let notAuthorized: StatusCode = "Z100"
    public static let repeatedlyDenied: StatusCode = "Z110"
    public static let authorizationUnavailable: StatusCode = "Z120"
    public static let badResource: StatusCode = "Z130"
    public static let deniedByDegradation: StatusCode = "Z169"
    public static let authorizationFailed: StatusCode = "Z500"
    public static let preauthorizationFailed: StatusCode = "P100"
    public static let internalFailure: StatusCode = "500"
}

extension StatusCode {
    /// True when it stands for a failure of the platform's framework, in any of the four spellings in use.
    public var isPlatformFailure: Bool { Self.platformFamily.contains(self) }

    private static let platformFamily: Set<StatusCode> = ["APPL", "APPL_ERROR", "AAPL", "AAPL_ERROR"]
}
