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
