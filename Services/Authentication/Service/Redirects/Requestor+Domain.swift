internal import Contracts
internal import Faults

extension Requestor {
    /// - Throws: `invalid_domain` when it is not registered for the requestor (rest-v1 §3.7); letter case does not count.
    func requireDomain(_ name: String) throws(Fault) {
        let name = name.lowercased()
        guard domains.contains(where: { $0.name.lowercased() == name }) else {
            throw Fault(.invalidDomain, "The domain is not registered for the requestor.")
        }
    }
}
