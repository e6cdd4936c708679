internal import Foundation
internal import StrictJson

/// The members of catalogue objects are read in this way; each notes its problems and gives a harmless value then.
extension JsonObject {
    /// The member `id`, of a form that fits and new.
    /// - Parameter isNew: Remembers the id; `false` when it was there already.
    func newID(_ isNew: (String) -> Bool) -> String {
        guard let value = required("id"), let id = value.string() else { return "" }
        if !CatalogueSyntax.isID(id) {
            value.problem("must be 1 to 128 letters, digits, '_' or '-', not beginning with '_' or '-'; it is '\(id)'")
        } else if !isNew(id) {
            value.problem("is '\(id)', which another one has")
        }
        return id
    }

    /// The id of something that was read before.
    func reference<Entry>(_ name: String, _ kind: String, in known: [OctetText: Entry]) -> String {
        guard let value = required(name), let id = value.string() else { return "" }
        if known.index(forKey: OctetText(id)) == nil { value.problem("names the \(kind) '\(id)', which is not in the catalogue") }
        return id
    }

    func text(_ name: String, required isRequired: Bool = true) -> String {
        guard let value = isRequired ? required(name) : optional(name), let text = value.string() else { return "" }
        if text.isEmpty, isRequired { value.problem("must not be empty") }
        if text.utf8.count > 1024 { value.problem("must have at most 1024 bytes") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) { value.problem("must not hold control characters") }
        return text
    }

    /// A name that people see: 1 to 80 characters (dashboard §2).
    func displayName(_ name: String, required isRequired: Bool = true) -> String {
        let text = text(name, required: isRequired)
        if text.count > 80 { optional(name)?.problem("must have at most 80 characters") }
        return text
    }

    /// - Parameter problem: The fault of an element, or `nil`.
    func texts(_ name: String, required isRequired: Bool = false, _ problem: (String) -> String? = { _ in nil }) -> [String] {
        guard let value = isRequired ? required(name) : optional(name) else { return [] }
        var seen: Set<OctetText> = []
        let texts = value.array { element -> String? in
            guard let text = element.string() else { return nil }
            if text.isEmpty {
                element.problem("must not be empty")
            } else if let problem = problem(text) {
                element.problem(problem)
            } else if !seen.insert(text).inserted {
                element.problem("is there twice")
            }
            return text
        }
        if isRequired, texts.isEmpty, value.isArray { value.problem("must not be empty") }
        return texts
    }

    func flag(_ name: String, else fallback: Bool = false) -> Bool { optional(name)?.bool() ?? fallback }

    /// 0 when it is not there.
    func number(_ name: String, _ range: ClosedRange<UInt32>, required isRequired: Bool = false) -> UInt32 {
        let value = isRequired ? required(name) : optional(name)
        return value?.integer(in: Int64(range.lowerBound)...Int64(range.upperBound)).map(UInt32.init) ?? 0
    }

    /// - Parameter fallback: When it is not there.
    func number(_ name: String, _ range: ClosedRange<UInt32>, else fallback: UInt32) -> UInt32 {
        optional(name) == nil ? fallback : number(name, range)
    }

    func choice<Value>(_ name: String, _ choices: KeyValuePairs<String, Value>, else fallback: Value) -> Value {
        optional(name)?.choice(choices) ?? fallback
    }

    func requiredChoice<Value>(_ name: String, _ choices: KeyValuePairs<String, Value>) -> Value? { required(name)?.choice(choices) }

    func url(_ name: String, required isRequired: Bool = true) -> String {
        checked(isRequired ? required(name) : optional(name), CatalogueURL.urlProblem)
    }

    /// The address of a page for people, which begins with https; optional.
    func pageLink(_ name: String) -> String { checked(optional(name), CatalogueURL.pageProblem) }

    /// As `url`, but an empty text is as good as none: published records of proxied MVPDs hold such (dashboard §2).
    func urlOrNothing(_ name: String) -> String { checked(optional(name)) { $0.isEmpty ? nil : CatalogueURL.urlProblem($0) } }

    func uri(_ name: String, required isRequired: Bool = false) -> String {
        checked(isRequired ? required(name) : optional(name), CatalogueURL.uriProblem)
    }

    /// `YYYY-MM-DD`, the day's first moment in UTC, as milliseconds since 1970; 0 when it is not there.
    func date(_ name: String) -> UInt64 {
        guard let value = optional(name), let text = value.string() else { return 0 }
        let format = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
        guard text.utf8.count == 10, let date = try? format.parse(text), date.timeIntervalSince1970 >= 0 else {
            value.problem("must be a date such as 2031-03-04; it is '\(text)'")
            return 0
        }
        return UInt64(date.timeIntervalSince1970 * 1000)
    }

    private func checked(_ value: JsonValue?, _ problem: (String) -> String?) -> String {
        guard let value, let text = value.string() else { return "" }
        if let problem = problem(text) { value.problem(problem) }
        return text
    }
}
