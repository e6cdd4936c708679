public import Faults

extension Span {
    /// A call has ended with a fault. To the caller that is an error. To the callee it is one only where the program could not do its work, and not
    /// where the answer is a no.
    public func answer(_ code: Fault.Code, isServer: Bool = false) {
        set("rpc.response.status_code", .text(code.rawValue))
        if !isServer || code.isTrouble { fail(code.rawValue) }
    }

    /// Work has ended with a fault: an error where the program could not do it.
    public func end(_ fault: Fault) {
        if fault.code.isTrouble { fail(fault.code.rawValue) }
        end()
    }
}

extension Fault.Code {
    /// True when somebody should look after a program that says so. Other codes answer what was asked: no session, no permission, a wrong value.
    fileprivate var isTrouble: Bool {
        let own: [Fault.Code] = [.internal, .unavailable, .overloaded, .deadlineExceeded, .storageFull, .unimplemented, .frameTooLarge]
        return own.contains(self)
    }
}
