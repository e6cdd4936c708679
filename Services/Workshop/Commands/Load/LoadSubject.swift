internal import CommandKit
internal import LoadTool

/// The service under load, and its methods that can be called.
struct LoadSubject {
    let service: ClusterService
    let methods: [MethodOffer]

    /// - Throws: `BadOption` naming the services.
    init(_ name: String) throws {
        guard let service = ClusterService(rawValue: name), service != .sandbox else {
            throw BadOption("'\(name)' is not a service that takes load", "give config, authentication, authorization, autosignin or gateway")
        }
        self.service = service
        methods = MethodOffer.offers(of: service)
    }

    var listing: String {
        (["\(service.rawValue): --method NAME or NAME=WEIGHT, several make a mix"] + methods.map { "  \($0.name.padding(28))\($0.summary)" })
            .joined(separator: "\n")
    }

    /// - Parameter texts: `NAME` or `NAME=WEIGHT`; none: the first offer.
    /// - Throws: `BadOption` naming the methods.
    func chosen(_ texts: [String]) throws -> [(offer: MethodOffer, weight: Double)] {
        guard !texts.isEmpty else { return methods.prefix(1).map { ($0, 1) } }
        let chosen = try texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1)
            let name = String(parts.first ?? "")
            guard let offer = methods.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw BadOption("--method \(text)", "\(service.rawValue) has \(methods.map(\.name).joined(separator: ", "))")
            }
            guard let weight = parts.count == 2 ? QuantityText.count(parts[1]) : 1, weight > 0 else {
                throw BadOption("--method \(text)", "the weight must be a number above 0")
            }
            return (offer, weight)
        }
        guard Set(chosen.map(\.0.name)).count == chosen.count else { throw BadOption("--method", "give each method once") }
        return chosen
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(1, width - count)) }
}
