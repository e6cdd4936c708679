internal import Octets

/// All advanced codes, with level and meaning (client-sdk §2.6).
public enum StatusTable {
    /// A row of the table.
    public struct Row: Sendable, Hashable {
        /// `CFG5xx` stands for `CFG500` to `CFG599`.
        public let code: StatusCode
        public let level: StatusLevel
        public let meaning: String
    }

    /// Each code once.
    public static let rows: [Row] = [
        Row(code: "APPL", level: .error, meaning: "The platform's framework failed while the requestor was set."),
        Row(code: "APPL_ERROR", level: .error, meaning: "The platform's framework failed while the session was checked."),
        Row(code: "AAPL", level: .error, meaning: "Another spelling of APPL."),
        Row(code: "AAPL_ERROR", level: .error, meaning: "Another spelling of APPL_ERROR."),
        Row(code: "VSA203", level: .info, meaning: "Signed out here; the platform stays signed in until the person signs out in its settings."),
        Row(code: "VSA403", level: .info, meaning: "The person did not permit the app to use the TV provider of the device."),
        Row(code: "VSA404", level: .info, meaning: "The person has not yet decided whether the app may use the TV provider of the device."),
        Row(code: "VSA503", level: .info, meaning: "The platform's sign-in did not work; the message says why."),
        Row(code: "N000", level: .info, meaning: "Nobody is signed in."),
        Row(code: "N001", level: .info, meaning: "A login without the person's doing was begun."),
        Row(code: "N003", level: .info, meaning: "The person chose another provider than those listed."),
        Row(code: "N004", level: .info, meaning: "The person chose a provider that is not supported."),
        Row(code: "N005", level: .info, meaning: "The person closed the picker."),
        Row(code: "N010", level: .warning, meaning: "Signed in without the provider, which is out of order."),
        Row(code: "N011", level: .info, meaning: "Signed in by a trial."),
        Row(code: "N111", level: .warning, meaning: "The trial is over."),
        Row(code: "N130", level: .error, meaning: "The login left no session."),
        Row(code: "N500", level: .error, meaning: "The sign-in failed inside the library or the servers."),
        Row(code: "R400", level: .error, meaning: "The software statement is invalid or revoked."),
        Row(code: "R401", level: .error, meaning: "There is no access token."),
        Row(code: "REG500", level: .error, meaning: "There is no registration code."),
        Row(code: "REGCODE", level: .success, meaning: "The registration code can be shown."),
        Row(code: "CFG100", level: .warning, meaning: "The device's clock is wrong."),
        Row(code: "CFG400", level: .error, meaning: "The requestor is unknown."),
        Row(code: "CFG404", level: .error, meaning: "The servers cannot be found."),
        Row(code: "CFG429", level: .error, meaning: "Too many calls; the configuration was not given."),
        Row(code: "CFG5xx", level: .error, meaning: "The servers failed to give the configuration."),
        Row(code: "SEC403", level: .error, meaning: "The app's registration does not cover the requestor or its domain."),
        Row(code: "SEC412", level: .warning, meaning: "The device's id has changed; all sessions were removed."),
        Row(code: "SEC420", level: .error, meaning: "The connection to the servers is not secure."),
        Row(code: "Z010", level: .warning, meaning: "Authorized without the provider, which is out of order."),
        Row(code: "Z011", level: .info, meaning: "Authorized by a trial."),
        Row(code: "Z100", level: .error, meaning: "Not authorized; the message holds the provider's text."),
        Row(code: "Z110", level: .error, meaning: "Not authorized, repeatedly."),
        Row(code: "Z120", level: .error, meaning: "The provider could not answer."),
        Row(code: "Z130", level: .error, meaning: "The resource cannot be understood."),
        Row(code: "Z169", level: .error, meaning: "The programmer has switched off authorization for this provider."),
        Row(code: "Z500", level: .error, meaning: "The authorization failed inside the library or the servers."),
        Row(code: "P100", level: .error, meaning: "The preauthorization failed."),
        Row(code: "500", level: .error, meaning: "Something failed inside the library."),
    ]

    private static let byCode = Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })

    /// The row of a code; `nil` for one that is not in the table.
    public static func row(of code: StatusCode) -> Row? {
        if let row = byCode[code] { return row }
        guard code.rawValue.wholeMatch(of: /CFG5[0-9][0-9]/) != nil else { return nil }
        return byCode["CFG5xx"]
    }
}

extension StatusCode {
    /// The severity; a code that is not in the table counts as an error.
    public var level: StatusLevel { StatusTable.row(of: self)?.level ?? .error }
    /// One sentence for developers; empty for a code that is not in the table.
    public var meaning: String { StatusTable.row(of: self)?.meaning ?? "" }
}

/// An advanced code with its details (client-sdk §1.3, `status`).
public struct Status: Sendable, Hashable {
    public let code: StatusCode
    public let level: StatusLevel
    /// For the person or the app's developer.
    public let message: String?
    /// The error behind it.
    public let details: String?
    public let resource: Resource.ID?
    /// With ``StatusCode/registrationCode``: the code.
    public let registrationCode: String?

    /// - Parameters:
    ///   - code: Also decides the level.
    ///   - message: For the person or the app's developer.
    ///   - details: The error behind it.
    ///   - resource: The resource that was asked for.
    ///   - registrationCode: With ``StatusCode/registrationCode``: the code.
    public init(
        _ code: StatusCode, message: String? = nil, details: String? = nil, resource: Resource.ID? = nil, registrationCode: String? = nil
    ) {
        self.code = code
        level = code.level
        self.message = message
        self.details = details
        self.resource = resource
        self.registrationCode = registrationCode
    }
}

/// The severity of an advanced code.
public enum StatusLevel: String, Sendable, Hashable, CaseIterable {
    case info
    case success
    case warning
    case error
}

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
