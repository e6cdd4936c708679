import StrictJson
import Testing

@Suite("Collected problems")
struct JsonProblemsTests {
    @Test("all problems of a document are listed, in its order")
    func listsAll() throws {
        let text = """
            {"people": [{"name": "Ada", "age": 200, "role": "queen"},
                        {"age": true, "nmae": "Ben", "age": 3},
                        7]}
            """
        let problems = JsonProblems(of: try JsonDocument(parsing: Array(text.utf8)))
        problems.root.object { object in
            object.required("people")?.array { person in
                person.object { person in
                    _ = person.required("name")?.string()
                    _ = person.required("age")?.integer(in: 0...150)
                    _ = person.optional("role")?.choice(["guest": 1, "owner": 2])
                }
            }
        }
        #expect(
            problems.list.map(\.description) == [
                "people[0].age (line 1, column 36) must be from 0 to 150; it is 200",
                "people[0].role (line 1, column 49) must be one of 'guest', 'owner'; it is 'queen'",
                "people[1].name (line 2, column 13) is missing",
                "people[1].age (line 2, column 21) must be a whole number; it is a boolean",
                "people[1].nmae (line 2, column 27) is not known here; known are age, name, role",
                "people[1].age (line 2, column 42) occurs twice",
                "people[2] (line 3, column 13) must be an object; it is a number",
            ])
    }

    @Test("a document without problems gives its values")
    func readsValues() throws {
        let problems = JsonProblems(of: try JsonDocument(parsing: Array(#"{"a": [1, 2], "b": "two", "c": true}"#.utf8)))
        let sum = problems.root.object { object in
            let numbers = object.required("a")?.array { $0.integer(in: 0...9) } ?? []
            #expect(object.optional("b")?.choice(["one": 1, "two": 2]) == 2)
            #expect(object.optional("c")?.bool() == true)
            #expect(object.optional("d") == nil)
            return numbers.reduce(0, +)
        }
        #expect(sum == 3)
        #expect(problems.list.isEmpty)
    }
}
