#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix

extension OutboundFailure {
    /// - Parameter hasAnswer: True once the head of the answer has come.
    init(_ error: any Error, hasAnswer: Bool) {
        if let failure = error as? OutboundFailure {
            self = failure
        } else if error is CancellationError {
            self.init(.cancelled)
        } else if error is NIOTooManyBytesError {
            self.init(.unusable, cause: "the answer is longer than is read")
        } else {
            self.init(Self.kind(error, hasAnswer: hasAnswer), cause: Self.words(error))
        }
    }

    /// The library's own words for a connection that failed list its structures.
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first?.error else { return "the name '\(error.host)' cannot be resolved" }
            return "no connection to \(error.host):\(error.port): \(words(first))"
        case ChannelError.connectTimeout: return "it does not answer in time"
        // Its own description says "connection reset" of whatever it was.
        case let error as IOError: return "\(String(cString: strerror(error.errnoCode))) (errno \(error.errnoCode))"
        default: return "\(error)"
        }
    }

    private static func kind(_ error: any Error, hasAnswer: Bool) -> Kind {
        if let error = error as? HTTPClientError {
            switch error {
            case .cancelled: return .cancelled
            case .connectTimeout: return .connectTimeout
            case .readTimeout: return .responseTimeout
            case .deadlineExceeded, .getConnectionFromPoolTimeout: return .budgetSpent
            case .remoteConnectionClosed: return hasAnswer ? .unusable : .resetBeforeAnswer
            default: return .unusable
            }
        }
        if hasAnswer { return .unusable }
        if error is NIOConnectionError { return .notSent }
        if let error = error as? IOError {
            switch error.errnoCode {
            case ECONNRESET, EPIPE: return .resetBeforeAnswer
            case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: return .notSent
            default: return .unusable
            }
        }
        if case .connectTimeout? = error as? ChannelError { return .connectTimeout }
        return .unusable
    }
}
