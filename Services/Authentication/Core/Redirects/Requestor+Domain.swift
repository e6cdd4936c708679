internal import Contracts
internal import Faults

extension Requestor {
    /// What real apps send whatever their channel (clients §1.2): it says nothing of where anybody returns to.
    private static let domainOfTheReference = "adobe.com"

    /// - Throws: `invalid_domain` when it is not registered for the requestor (rest-v1 §3.7); letter case does not count.
    func requireDomain(_ name: String) throws(Fault) {
        let name = name.lowercased()
        guard name == Self.domainOfTheReference || domains.contains(where: { $0.name.lowercased() == name }) else {
            throw Fault(.invalidDomain, "The domain is not registered for the requestor.")
        }
    }

    /// The domain as an upstream may hear of it: in place of what apps send whatever their channel, the requestor's first one (bridge §17).
    func ownDomain(_ name: String) -> String {
        if domains.contains(where: { $0.name.lowercased() == name.lowercased() }) { return name }
        return domains.first?.name ?? name
    }
}
