internal import CommandKit
internal import Faults
internal import NIOPosix
internal import Transport

/// Why a run was not possible, in one line with advice.
enum LoadFailure {
    static func describe(_ error: any Error) -> String {
        switch error {
        case let error as CommandFailure: error.description
        case let error as Fault: "the service answered \(error.code.rawValue): \(PlainReason.of(error))"
        case let error as TlsError: "no TLS with the service (\(PlainReason.of(error))): \(advice(error))"
        case let error as NIOConnectionError:
            "cannot connect to \(error.host):\(error.port) (\(PlainReason.of(error))): is the service running there? Start the cluster with ./Services/up"
        default: PlainReason.of(error)
        }
    }

    private static func advice(_ error: TlsError) -> String {
        switch error.code {
        case .untrustedPeer: "check --ca, and whether the service's certificate has expired"
        case .wrongPeerName: "another service answers there: check --address and --peer-name"
        case .handshakeFailed, .truncated:
            "the service refused the tool's certificate, or does not speak TLS 1.3: check --certificate, --key and the address"
        default: "check --certificate, --key and --ca"
        }
    }
}
