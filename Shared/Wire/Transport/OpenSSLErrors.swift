internal import COpenSSL

/// The error queue that OpenSSL keeps per thread.
enum OpenSSLErrors {
    /// OpenSSL numbers a received alert as its own number plus this.
    private static let alertOffset: Int32 = 1000

    /// Takes what is in the queue: the text of the newest error.
    static func drain() -> String { drainReason().text }

    /// Takes what is in the queue.
    /// - Parameter code: The code unless the newest error is an alert that the peer sent.
    static func drain(as code: TlsError.Code) -> TlsError {
        let reason = drainReason()
        return TlsError(reason.isAlert ? .refusedByPeer : code, reason.text)
    }

    private static func drainReason() -> (text: String, isAlert: Bool) {
        let newest = ERR_peek_last_error()
        ERR_clear_error()
        guard newest != 0 else { return ("no reason given", false) }
        let isAlert = ERR_GET_LIB(newest) == ERR_LIB_SSL && ERR_GET_REASON(newest) > alertOffset
        guard let text = ERR_reason_error_string(newest) else { return ("error \(newest)", isAlert) }
        return (String(cString: text), isAlert)
    }
}
