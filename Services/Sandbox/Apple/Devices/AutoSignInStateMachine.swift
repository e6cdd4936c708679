internal import SandboxKit
internal import Clocks

/// The token that an app keeps on an Apple Account: the transitions A1 to A12 of apple §1.1. Time and names come from outside.
struct AutoSignInStateMachine: Sendable {
    /// The person's answer to the sheet.
    enum Answer: String, Sendable, Decodable {
        case approve, dismiss, refuse
    }

    private struct Change: Sendable {
        let at: Timestamp
        /// nil: by the server.
        let device: String?
        let reading: AutoSignInReading
    }

    private struct Context: Sendable {
        let authorization: AutoSignInAuthorization
        var isUsed = false
    }

    private static let longestHistory = 64

    private var changes: [Change] = []
    private var contexts: [String: Context] = [:]
    private(set) var sheetsShown = 0

    /// The state that Apple's server holds.
    var current: AutoSignInReading { changes.last?.reading ?? AutoSignInReading() }

    /// The state that a device sees: its own changes at once, others after the delay.
    func reading(on device: String, at now: Timestamp, delay: Duration) -> AutoSignInReading {
        changes.last { $0.device == device || $0.at + delay <= now }?.reading ?? AutoSignInReading()
    }

    /// The app asks (A2 to A4, A10).
    /// - Parameter isFromSettings: True when the person started it in the app's settings.
    mutating func request(
        _ answer: Answer, isFromSettings: Bool, on device: String, context: String, at now: Timestamp
    ) -> AutoSignInPrompt {
        if current.authorization == .denied, !isFromSettings { return prompt(.denied, context, wasSheetShown: false) }
        sheetsShown += 1
        switch answer {
        case .approve:
            change(AutoSignInReading(value: current.value, authorization: .granted), device, now)
            return prompt(.granted, context, wasSheetShown: true)
        case .dismiss: return prompt(.notDetermined, context, wasSheetShown: true)
        case .refuse:
            change(AutoSignInReading(value: current.value, authorization: .denied), device, now)
            return prompt(.denied, context, wasSheetShown: true)
        }
    }

    /// The app stores a value (A5, A6).
    mutating func update(_ value: String, context: String, on device: String, at now: Timestamp) throws(AutoSignInRejection) {
        guard let known = contexts[context] else { throw .contextUnknown }
        guard known.authorization == .granted else { throw .contextNotGranted }
        guard !known.isUsed else { throw .contextUsed }
        contexts[context]?.isUsed = true
        change(AutoSignInReading(value: value, authorization: .granted), device, now)
    }

    /// The app clears the value (A7), or the server does (A9). Earlier approvals no longer count.
    /// - Parameter device: nil: the server.
    mutating func delete(on device: String?, at now: Timestamp) {
        for (name, context) in contexts where !context.isUsed { contexts[name] = Context(authorization: .notDetermined) }
        change(AutoSignInReading(), device, now)
    }

    /// The server exchanges the value (A8).
    mutating func replace(with value: String, at now: Timestamp) {
        change(AutoSignInReading(value: value, authorization: .granted), nil, now)
    }

    /// Sets any state, for tests.
    mutating func set(_ reading: AutoSignInReading, at now: Timestamp) { change(reading, nil, now) }

    private mutating func prompt(_ authorization: AutoSignInAuthorization, _ name: String, wasSheetShown: Bool) -> AutoSignInPrompt {
        contexts[name] = Context(authorization: authorization)
        return AutoSignInPrompt(context: name, authorization: authorization, wasSheetShown: wasSheetShown)
    }

    private mutating func change(_ reading: AutoSignInReading, _ device: String?, _ now: Timestamp) {
        changes.append(Change(at: now, device: device, reading: reading))
        if changes.count > Self.longestHistory { changes.removeFirst() }
    }
}

/// The permission of an app to keep a token on the Apple Account (apple §1.1).
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

/// The state that a device reads.
struct AutoSignInReading: Sendable, Equatable {
    var value: String?
    var authorization = AutoSignInAuthorization.notDetermined
}

/// The result that an app gets for `requestAutoSignInAuthorization()`.
struct AutoSignInPrompt: Sendable, Equatable {
    /// Names the update context.
    let context: String
    let authorization: AutoSignInAuthorization
    let wasSheetShown: Bool
}

/// A value cannot be stored for one of these reasons (apple §1.1 A6).
enum AutoSignInRejection: String, Error {
    case contextUnknown, contextNotGranted, contextUsed
}
