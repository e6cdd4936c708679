package import ContractRuntime

/// Whatever answers calls of the contract, and says which.
package protocol CallRegistration: Sendable {
    /// Offers its calls. All registrations together offer each call once.
    func register(on calls: inout some MethodRegistry)
}
