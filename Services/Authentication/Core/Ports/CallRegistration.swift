package import ContractRuntime

/// Answers calls of the contract.
package protocol CallRegistration: Sendable {
    /// Offers its calls. All registrations together offer each call once.
    func register(on calls: inout some MethodRegistry)
}
