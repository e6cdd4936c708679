internal import CommandKit
internal import Foundation
internal import LoadTool
internal import ServiceKit

/// The load of `--path`: the given requests, to the gateway or to any HTTP server.
struct HttpRequests {
    let options: HttpOptions
    let target: LoadTargetOptions
    let data: DataOptions

    /// - Parameter cluster: For the gateway's address, where none is given.
    func prepare(_ cluster: ClusterFile?, plan: RunPlan) throws -> LoadPreparation.Prepared {
        let base = try HttpBase(target.peer, http: options, cluster)
        let requests = try requests(host: base.host, plan)
        let load = HttpLoad(base.target, plan: plan) { worker, workers in RequestList(requests, worker: worker, workers: workers) }
        return LoadPreparation.Prepared(
            load: load, service: .gateway, targets: [base.url], workload: "\(options.verb) \(options.path.joined(separator: ", "))")
    }

    private func requests(host: String, _ plan: RunPlan) throws -> [(name: String, payload: [UInt8])] {
        let rows = try data.file()
        var headers = try options.header.map(Self.field)
        if !headers.contains(where: { $0.0.lowercased() == "user-agent" }) {
            headers.append(("User-Agent", "boxoffice-load/\(SoftwareVersion.current)"))
        }
        let body = try options.body.map { $0.hasPrefix("@") ? try TextFile.read(String($0.dropFirst())) : $0 }
        let whole = try options.path.map { path in
            guard path.hasPrefix("/") else { throw BadOption("--path '\(path)'", "it must begin with /") }
            let head = headers.map { "\($0.0): \($0.1)\u{0}" }.joined()
            return (
                path, try RequestTemplate([path, head, body ?? ""].joined(separator: "\u{1}"), columns: rows.columns, option: "--path '\(path)'")
            )
        }
        var random = SplitMix(seed: plan.seed)
        let isConstant = rows.columns.isEmpty && whole.allSatisfy(\.1.isConstant)
        let count = isConstant ? 1 : max(rows.rows.count, data.requests)
        return (0..<count).flatMap { sequence in
            whole.map { name, template in
                let text = template.filled(sequence: sequence, row: rows.rows[sequence % rows.rows.count], random: &random)
                let parts = text.split(separator: "\u{1}", omittingEmptySubsequences: false).map(String.init)
                let fields = parts[1].split(separator: "\u{0}").map { try? Self.field(String($0)) }.compactMap(\.self)
                return (
                    name, HttpRequestText.bytes(method: options.verb, path: parts[0], host: host, headers: fields, body: body == nil ? nil : parts[2])
                )
            }
        }
    }

    private static func field(_ text: String) throws -> (String, String) {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, !text.contains(where: \.isNewline) else {
            throw BadOption("--header '\(text)'", "give 'Name: value'")
        }
        return (String(text[..<colon]), text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces))
    }
}
