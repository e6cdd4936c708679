/// Whether an app may keep a token on the Apple Account (apple §1.1).
enum AutoSignInAuthorization: String, Sendable, Codable {
    case notDetermined, granted, denied

    /// Apple's raw value.
    var number: Int {
        switch self {
        case .notDetermined: 0
        case .granted: 1
        case .denied: 2
        }
    }
}

/// What a device reads.
struct AutoSignInReading: Sendable, Equatable {
    var value: String?
    var authorization = AutoSignInAuthorization.notDetermined
}

/// What an app gets for `requestAutoSignInAuthorization()`.
struct AutoSignInPrompt: Sendable, Equatable {
    /// Names the update context.
    let context: String
    let authorization: AutoSignInAuthorization
    let wasSheetShown: Bool
}

/// Why a value cannot be stored (apple §1.1 A6).
enum AutoSignInRefusal: String, Error {
    case contextUnknown, contextNotGranted, contextUsed
}
