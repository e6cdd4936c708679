/// A form as the templates want it.
struct FormContent {
    let content: [String: Any]

    init(_ form: EntryForm) {
        var content: [String: Any] = ["groups": form.groups.map { Self.group($0, form) }]
        let told = form.groups.flatMap(\.fields).filter { form.problems[OctetText($0.name)] != nil }
        if !told.isEmpty || !form.otherProblems.isEmpty {
            content["problems"] = [
                "fieldProblems": told.map { field in
                    [
                        "problemField": Self.id(field.name), "problemLabel": field.label,
                        "problemText": (form.problems[OctetText(field.name)] ?? []).joined(separator: "; "),
                    ]
                }, "otherProblems": form.otherProblems,
            ]
        }
        self.content = content
    }

    /// The values of an entry, without a form.
    /// - Parameter withUnset: Fields without a value are there too, and so are groups of them.
    static func facts(_ form: EntryForm, withUnset: Bool = true) -> [[String: Any]] {
        form.groups.compactMap { group in
            let values = group.fields.map { (label: $0.label, value: told($0, form)) }.filter { withUnset || $0.value != unset }
            guard withUnset || !values.isEmpty else { return nil }
            return ["groupTitle": group.title, "facts": values.map { ["factLabel": $0.label, "factValue": $0.value] }]
        }
    }

    /// A field without a value.
    private static let unset = "–"

    private static func group(_ group: FormGroup, _ form: EntryForm) -> [String: Any] {
        ["groupTitle": group.title, "fields": group.fields.map { field($0, form) }]
    }

    private static func field(_ field: FormField, _ form: EntryForm) -> [String: Any] {
        let problem = form.problems[OctetText(field.name)]?.joined(separator: "; ") ?? ""
        let id = id(field.name)
        var content: [String: Any] = [
            "fieldId": id, "fieldName": field.name, "fieldLabel": field.label, "fieldHint": field.hint, "hasHint": !field.hint.isEmpty,
            "fieldProblem": problem, "isWrong": !problem.isEmpty, "fieldValue": form[field.name],
        ]
        let described = [problem.isEmpty ? "" : id + "-problem", field.hint.isEmpty ? "" : id + "-hint"].filter { !$0.isEmpty }
        if !described.isEmpty { content["describedBy"] = described.joined(separator: " ") }
        switch field.kind {
        case .text, .number: content["isLine"] = ["inputMode": isNumber(field) ? "numeric" : "text"]
        case .id(let collection): content["isLine"] = ["inputMode": "text", "listId": IdChoices.listId(collection)]
        case .ids(let collection):
            content["isIds"] = TypedIds.inputs(
                form[field.name].split(separator: "\n").map(String.init), of: collection, name: field.name, id: id, label: field.label,
                describedBy: content["describedBy"] as? String, isWrong: !problem.isEmpty)
        case .lines, .metadataKeys: content["isLines"] = true
        case .toggle: content["isToggle"] = ["isOn": !form[field.name].isEmpty]
        case .choice(let choices):
            content["isChoice"] = [
                "choices": choices.map { ["choice": $0.value, "choiceLabel": $0.label, "isChosen": $0.value == form[field.name]] as [String: Any] }
            ]
        case .lifetime:
            content["isLifetime"] = [
                "parts": FormField.lifetimeParts.map { part in
                    [
                        "partId": "\(id)-\(part.suffix)", "partName": "\(field.name).\(part.suffix)", "partLabel": part.label,
                        "partValue": form["\(field.name).\(part.suffix)"],
                    ]
                }
            ]
        }
        return content
    }

    private static func isNumber(_ field: FormField) -> Bool { if case .number = field.kind { true } else { false } }

    static func id(_ name: String) -> String { "field-" + name.replacing(".", with: "-") }

    private static func told(_ field: FormField, _ form: EntryForm) -> String {
        switch field.kind {
        case .toggle: return form[field.name].isEmpty ? "No" : "Yes"
        case .lifetime:
            let seconds = FormField.lifetimeParts.map { (Int(form["\(field.name).\($0.suffix)"]) ?? 0) * $0.seconds }.reduce(0, +)
            return seconds == 0 ? "not set" : LifetimeText(seconds: seconds).text
        case .lines, .ids, .metadataKeys: return form[field.name].isEmpty ? unset : form[field.name].split(separator: "\n").joined(separator: ", ")
        case .choice(let choices): return choices.first { $0.value == form[field.name] }?.label ?? form[field.name]
        case .text, .id, .number: return form[field.name].isEmpty ? unset : form[field.name]
        }
    }
}
