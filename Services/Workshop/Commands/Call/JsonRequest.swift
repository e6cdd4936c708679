internal import CommandKit
internal import ContractReflection
internal import LoadTool
internal import StrictJson

/// Requests as somebody writes them: JSON for one message, or an array of several.
struct JsonRequest {
    let schema: ContractSchema
    let method: MethodSchema

    /// - Parameters:
    ///   - text: JSON.
    ///   - option: Where it comes from, for messages.
    /// - Returns: The encoded messages.
    /// - Throws: `BadOption` with line, column and field of what does not fit.
    func encoded(_ text: String, option: String) throws(BadOption) -> [[UInt8]] {
        let document: JsonDocument
        do throws(JsonSyntaxError) {
            document = try JsonDocument(parsing: Array(text.utf8))
        } catch {
            throw BadOption(option, "it is not JSON: \(error)")
        }
        let nodes: [JsonNode] = if case .array(let elements) = document.root.content { elements } else { [document.root] }
        guard !nodes.isEmpty else { throw BadOption(option, "the array holds no request") }
        var requests: [[UInt8]] = []
        for node in nodes {
            do throws(JsonMismatch) {
                requests.append(try schema.encode(node, as: method.request))
            } catch {
                throw BadOption(option, "\(document.position(of: error.offset)): \(error)")
            }
        }
        return requests
    }

    /// `@FILE` is the text of a file, `-` what comes on standard input.
    static func text(of argument: String) throws -> String {
        if argument == "-" {
            var lines: [String] = []
            while let line = readLine(strippingNewline: false) { lines.append(line) }
            return lines.joined()
        }
        return argument.hasPrefix("@") ? try TextFile.read(String(argument.dropFirst())) : argument
    }
}
