internal import Faults
internal import Foundation
internal import LoadTool
internal import NIOCore
internal import NIOPosix
internal import Transport

/// Why a run was not possible, in one line with advice.
enum LoadFailure {
    static func describe(_ error: any Error) -> String {
        switch error {
        case let error as CommandFailure: error.description
        case let error as Fault: "the service answered \(error.code.rawValue): \(error.message)\(error.cause.map { " (\(describe($0)))" } ?? "")"
        case let error as TlsError: tls(error)
        case let error as NIOConnectionError:
            "cannot connect to \(error.host):\(error.port) (\(cause(error))): is the service running there? Start the cluster with ./Services/up"
        case let error as ChannelError: channel(error)
        default: "\(error)"
        }
    }

    private static func cause(_ error: NIOConnectionError) -> String {
        guard let first = error.connectionErrors.first?.error as? IOError else {
            return error.connectionErrors.first.map { "\($0.error)" } ?? "the name cannot be resolved"
        }
        return String(cString: strerror(first.errnoCode))
    }

    private static func channel(_ error: ChannelError) -> String {
        if case .connectTimeout = error { return "no answer in time: check --address" }
        return "the connection failed: \(error)"
    }

    private static func tls(_ error: TlsError) -> String {
        let advice =
            switch error.code {
            case .untrustedPeer: "check --ca, and whether the service's certificate has expired"
            case .wrongPeerName: "another service answers there: check --address and --peer-name"
            case .handshakeFailed, .truncated:
                "the service refused the tool's certificate, or does not speak TLS 1.3: check --certificate, --key and the address"
            default: "check --certificate, --key and --ca"
            }
        return "no TLS with the service (\(error.message)): \(advice)"
    }
}
