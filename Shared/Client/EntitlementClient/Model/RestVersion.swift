internal import Octets

/// The version of the servers' API that the library speaks. It changes what is on the wire, not the library's own operations.
public enum RestVersion: String, Sendable, Hashable, Codable, CaseIterable {
    /// `/api/v1` and `/reggie/v1`, with the scope `api:client:v1`.
    case v1
    /// `/api/v2`, with the scope `api:client:v2`: the vendor issues a software statement of its own for it.
    case v2
}
