internal import ArgumentParser
internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import ServiceKit

extension CommandExit {
    /// As scripts and reports of `boxoffice device` call it (client-sdk §4.3).
    var name: String {
        switch self {
        case .done: "ok"
        case .failed: "refused"
        case .usage: "usage"
        case .configuration: "configuration"
        case .unreachable: "unreachable"
        case .expired: "expired"
        case .unexpected: "unexpected"
        case .cancelled, .readerGone: "cancelled"
        }
    }
}

/// An operation of a simulated device did not work for this reason.
struct DeviceFailure: Error, CustomStringConvertible {
    let exit: CommandExit
    /// The advanced code, if there is one (client-sdk §2.6).
    let code: StatusCode?
    let description: String

    init(_ exit: CommandExit, _ code: StatusCode? = nil, _ description: String) {
        (self.exit, self.code, self.description) = (exit, code, description)
    }

    /// - Parameter statuses: The messages of the library meanwhile.
    init(_ error: any Error, _ statuses: [Status] = []) {
        switch error {
        case let failure as DeviceFailure: self = failure
        case let error as EntitlementError: self.init(error, statuses)
        case let refusal as V2Refusal: self.init(refusal.exit, nil, refusal.description)
        case let failure as CommandFailure: self.init(failure.exit, nil, failure.description)
        case is CancellationError: self.init(.cancelled, nil, "cancelled")
        default: self.init(.refused, statuses.last { $0.level == .error }?.code, PlainReason.of(error))
        }
    }

    private init(_ error: EntitlementError, _ statuses: [Status]) {
        switch error {
        case .notConfigured: self.init(.configuration, nil, "there is no configuration: the app has not asked for one, or got none")
        case .configurationFailed(let code):
            self.init(Self.isOfNetwork(code) ? .unreachable : .configuration, code, Self.text(code, statuses))
        case .notAuthenticated: self.init(.refused, .notAuthenticated, "nobody is signed in")
        case .providerNotSelected: self.init(.cancelled, .pickerCancelled, "the sign-in was given up")
        case .authenticationFailed(.noSession?):
            self.init(.expired, .noSession, "the registration code expired before anybody signed in")
        case .authenticationFailed(let code?):
            self.init(Self.exit(of: statuses), code, Self.text(code, statuses))
        case .authenticationFailed(nil): self.init(.refused, nil, "the sign-in failed")
        case .denied(let denial):
            let exit: CommandExit = denial.code == .internal ? .unreachable : .refused
            if let code = denial.statusCode {
                self.init(exit, code, "\(code): \(denial.text.isEmpty ? code.meaning : denial.text)")
            } else {
                self.init(exit, .notAuthenticated, "nobody is signed in")
            }
        case .preauthorizationFailed(let status):
            let exit: CommandExit = status.code == "network_error" || status.status >= 500 ? .unreachable : .refused
            let reason = status.details ?? status.message
            self.init(
                exit, statuses.last { $0.code == .preauthorizationFailed }?.code, [status.code, reason].compactMap(\.self).joined(separator: ": "))
        case .automaticSignIn(let reason): self.init(.refused, nil, "automatic sign-in: \(reason)")
        }
    }

    private static func text(_ code: StatusCode, _ statuses: [Status]) -> String {
        let status = statuses.last { $0.code == code }
        let more = [status?.message, status?.details].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(code): \(code.meaning)\(more.isEmpty ? "" : " (\(more))")"
    }

    private static func exit(of statuses: [Status]) -> CommandExit {
        statuses.contains { $0.details?.contains("simulated: no connection") == true } ? .unreachable : .refused
    }

    /// client-sdk §2.6: the servers were not found, are out of order or not to be trusted.
    private static func isOfNetwork(_ code: StatusCode) -> Bool {
        [.serversNotFound, .transportInsecure, .configurationThrottled].contains(code) || code.rawValue.wholeMatch(of: /CFG5[0-9][0-9]/) != nil
    }
}
