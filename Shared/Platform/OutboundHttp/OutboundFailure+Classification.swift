internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix

extension OutboundFailure {
    /// - Parameter hasAnswer: True once the head of the answer has come.
    init(_ error: any Error, hasAnswer: Bool) {
        if error is CancellationError {
            self.init(.cancelled)
        } else if error is NIOTooManyBytesError {
            self.init(.unusable, cause: "the answer is longer than is read")
        } else {
            self.init(Self.kind(error, hasAnswer: hasAnswer), cause: "\(error)")
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
